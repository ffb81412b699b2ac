// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the passes of a composed policy share: the slots, what is believed of each job, and the few
/// moves that a pass makes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cluster/demand_table.h"
#include "policy/contract/contract.h"
#include "policy/kit/asked_demands.h"
#include "policy/kit/beliefs.h"
#include "policy/kit/queue.h"
#include "policy/kit/shares.h"
#include "policy/slots.h"
#include "predict/estimator.h"

namespace almanac::policy {

/// One virtual cluster as a pass sees it.
struct VcState {
  VcId vc{};
  WaitingQueue waiting{};
  RankedQueue running{};   ///< Kept only for passes that ask for it (Desk::track).
  JobId blocked = kNoJob;  ///< Could not be placed, and no GPU has come free since.
};

class Packing;
class DoubtedNodes;
class QuotaKeeper;

class Desk {
 public:
  /// `shape` null = every job gets the GPUs that it asks; `size` null = the cores and memory.
  Desk(std::unique_ptr<Order> order, std::unique_ptr<Placement> placement,
       std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
       std::unique_ptr<predict::Estimator> estimator);

  /// Binds the view and the plan of one decision.
  void open(const View& view, Plan& plan);
  struct Bound {
    const View* view = nullptr;
    Plan* plan = nullptr;
  };
  Bound bound() const { return {view_, plan_}; }
  void bind(const Bound& to) {
    view_ = to.view;
    plan_ = to.plan;
  }
  const View& view() const { return *view_; }
  Plan& plan() { return *plan_; }
  cluster::Ledger& ledger() { return plan_->ledger; }
  const Order& order() const { return *order_; }
  const Placement& placement() const { return *placement_; }
  /// Tells the placement what a job that comes asks.
  void expect(JobId job) { placement_->expect(view_->demand(view_->progress(job).demand)); }
  /// As place_demand(), but off doubted nodes where others will do.
  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<cluster::Grant>& grants) const;
  /// Null = every job gets what it asks.
  Size* size() const { return size_.get(); }
  Time now() const { return view_->now; }

  /// Of how long jobs run; asked if the order or the pass does.
  Beliefs& beliefs() { return beliefs_; }
  /// What a job needs to start, and the number of that; as of when it joined the queue.
  const cluster::Demand& demand(JobId job) const {
    return chooses() ? demands_[slots_[index(job)].demand] : view_->demand(asked_id(job));
  }
  /// What is enough for it to start.
  cluster::Demand least(JobId job) const { return least(demand(job)); }
  cluster::Demand least(const cluster::Demand& demand) const {
    return size_ ? size_->least(demand) : demand;
  }
  DemandId demand_id(JobId job) const {
    return chooses() ? slots_[index(job)].demand : asked_id(job);
  }
  /// Puts a job in the queue at its rank.
  void enqueue(VcState& vc, JobId job);
  /// Takes a job that has not started out of the queue.
  void withdraw(VcState& vc, JobId job);
  /// Files those waiting jobs anew whose shape or rank may be another by now, and gives them.
  std::span<const JobId> refile(std::span<VcState> vcs);
  /// Lets each job that waits in `vc` and accepts several demands ask for the first that has room,
  /// else for the best; gives those that are filed anew. Not where a size chooses too. A placement
  /// for each demand of such a job.
  std::span<const JobId> choose_again(VcState& vc);
  /// Whether any job waits that accepts several.
  bool has_undecided() const { return !asked_.undecided().empty(); }
  /// Puts a job in the queue at a rank of the caller's.
  void enqueue_at(VcState& vc, JobId job, double rank, double tie);

  /// Takes GPUs for one more job of `demand`, with fewer cores where the size allows that; the span
  /// is valid until the next call. Empty = no, or no quota has room.
  std::span<const cluster::Grant> place(VcId vc, const cluster::Demand& demand);
  bool fits(VcId vc, const cluster::Demand& demand);
  /// Takes half of the GPUs of a running job for `job`, which finds no place; empty = no.
  std::span<const cluster::Grant> join(VcId vc, JobId job);
  /// Whether jobs may run two on GPUs that they ask for whole, and whether a running one does.
  bool packs() const { return packing_ != nullptr; }
  bool is_paired(JobId job) const;
  void set_packing(Packing& packing) { packing_ = &packing; }
  /// Nodes that place() avoids; `doubted` outlives this.
  void set_doubted(const DoubtedNodes& doubted) { doubted_ = &doubted; }
  /// `keeper` is told of each job that starts.
  void set_quota_keeper(QuotaKeeper& keeper) { quota_keeper_ = &keeper; }
  /// Whether quotas have room for one more job of `demand`.
  bool is_within_quotas(const cluster::Demand& demand) const {
    return plan_->quotas == nullptr || plan_->quotas->has_room(demand.claim);
  }
  /// Starts jobs in order of rank until one cannot be placed; gives whether any started.
  bool start_in_order(VcState& vc);
  /// Moves a job from the queue to running, on GPUs already taken. `entry` may be the queue's own.
  void start(VcState& vc, QueueEntry entry, std::span<const cluster::Grant> grants);
  void start(VcState& vc, JobId job, std::span<const cluster::Grant> grants);
  /// Gives the GPUs of a running job back in the ledger: the first half of stopping it.
  void give_back(JobId job);
  /// Stops a running job whose GPUs are given back. It joins the queue at the next decision.
  void stop(VcState& vc, JobId job);
  void ended(VcState& vc, JobId job);
  /// A job runs no longer, but is to go on: it is to be put in the queue anew.
  void failed(VcState& vc, JobId job);
  /// Files a job that runs already and of which nothing is known here.
  void adopt(VcState& vc, JobId job);
  /// Lets a running job, which has given back what it held, go on with `grants`, which are taken.
  void move(JobId job, std::span<const cluster::Grant> grants);
  /// Whether a job runs, and does not start or move in this very plan.
  bool runs(JobId job) const;
  /// Whether a job starts or moves in this very plan.
  bool starts(JobId job) const;
  /// Gives a running job other cores and memory of the nodes that it holds; takes and gives back in
  /// the ledger, where the difference must be free.
  void resize(JobId job, std::span<const cluster::Grant> grants);
  /// Gives a job that runs, or starts in this very plan, another part of each of its GPUs; takes
  /// and gives back in the ledger.
  void hold_part(JobId job, std::int32_t gpu_milli) { hold_part(job, gpu_milli, grants(job)); }
  /// The same on the nodes of `where` only.
  void hold_part(JobId job, std::int32_t gpu_milli, std::span<const cluster::Grant> where);
  /// Files a running job anew under `rank`.
  void refile_running(VcState& vc, JobId job, double rank);

  /// What a running job holds, also when it starts in this very plan.
  std::span<const cluster::Grant> grants(JobId job) const;
  Candidate candidate(JobId job) const;
  /// Believed time still to run in the shape that the job is to have, restart work included; never
  /// negative.
  Duration remaining(JobId job) const;
  /// Believed work still to do (Beliefs).
  Duration work_left(JobId job) const { return beliefs_.work_left(job, *view_); }
  /// The speed, beside that, in the shape that it is to have.
  double rate(JobId job) const { return shape_ ? double{slots_[index(job)].rate} : 1.0; }
  /// Whether the GPUs of a job are for the policy to choose.
  bool chooses_shape(JobId job) const {
    return shape_ && view_->request(job).max_gpus > 0 &&
           (view_->speeds != nullptr || !shape_->needs_speeds());
  }
  /// Gives a job of which that is so another shape: a waiting one is filed anew, a running one is
  /// to be moved.
  void reshape(VcState& vc, JobId job, const Shaped& shape);
  /// `demand` with so many GPUs, and the room for these in quotas, on so many nodes (Shaped).
  cluster::Demand shaped(cluster::Demand demand, int gpus, int nodes) const;
  QueueKey key(JobId job) const { return slots_[index(job)].key(); }
  /// What the ranks of all running jobs have fallen by since time zero: running jobs are filed
  /// without it. 0 where each falls with the work that it does.
  double fallen() const;
  /// The key of a running job, by which it would be filed now.
  QueueKey running_key(JobId job) const;
  /// Files all running jobs under these.
  void refile_running(VcState& vc);
  /// When a running job is believed to end.
  Time believed_end(JobId job) const;

  /// Rank under which a job that starts now is filed in VcState::running.
  enum class Track { nothing, rank, believed_end };
  Track track = Track::nothing;
  /// A job that asks a part of a GPU gets a whole one: the pass counts GPUs.
  bool whole_gpus = false;
  /// Jobs stopped by the plan in the making and by the one before; the pipeline queues them again.
  std::vector<JobId> stopped;
  /// Nodes of which jobs gave something back or took more beside their GPUs since the passes last
  /// looked; some twice.
  std::vector<NodeId> touched;
  /// Running jobs that none may join.
  std::set<JobId> apart;
  /// Whether a resize of this decision gave something back.
  bool freed = false;

 private:
  /// Whether jobs may be given something else than they ask.
  bool chooses() const { return size_ != nullptr || shape_ != nullptr; }
  /// Of the demands that will do for a job the one that it asks for now.
  DemandId asked_id(JobId job) const { return asked_.asked(job, *view_); }
  Acceptable first_with_room(VcId vc, JobId job);
  /// Chooses what a job is to have; gives until when that stands.
  Time choose_demand(JobId job);
  /// Puts a job in the queue as the slots say.
  void file(VcState& vc, JobId job, std::uint32_t sequence);
  void file(VcState& vc, JobId job, double rank, double tie, std::uint32_t sequence);
  void top_up(const cluster::Demand& demand);
  /// For how long a job that holds `grants` is still believed to run, in milliseconds.
  double time_left(JobId job, std::span<const cluster::Grant> grants) const;
  /// Whether the ranks of running jobs fall, and not all alike.
  bool falls_with_work() const { return order_->drift() != 0 && view_->telemetry != nullptr; }

  /// Of a job that was withdrawn: another host of jobs may have it, and it may still wait there.
  static constexpr std::uint32_t kNotFiled = ~std::uint32_t{0};
  struct Slot {
    double rank = 0;
    double tie = 0;
    std::uint32_t sequence = 0;
    DemandId demand{};  // if there is a shape or a size
    float rate = 1;     // with that demand's shape, or with the choice

    QueueKey key() const { return {rank, tie, sequence}; }
  };

  std::unique_ptr<Order> order_;
  std::unique_ptr<Placement> placement_;
  std::unique_ptr<Shape> shape_;  // null = as asked
  std::unique_ptr<Size> size_;    // null = as asked
  Beliefs beliefs_;
  cluster::DemandTable demands_;  // that shape_ and size_ answered
  std::vector<JobId> refiled_;
  /// Until when what waiting jobs are filed under stands.
  std::set<std::pair<Time, JobId>> stale_;
  AskedDemands asked_;
  bool tells_shares_;             // whether the order reads them
  std::optional<Shares> shares_;  // the same, once there is a view
  const View* view_ = nullptr;
  Plan* plan_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<cluster::Grant> grants_;
  Packing* packing_ = nullptr;
  QuotaKeeper* quota_keeper_ = nullptr;
  const DoubtedNodes* doubted_ = nullptr;
  std::uint32_t sequence_ = 0;
};

/// One way of going through a queue.
class Pass {
 public:
  virtual ~Pass() = default;
  /// Plans all that can change now in `vc`.
  virtual void run(VcState& vc) = 0;
  /// Files a job that comes, in the queue of `vc`.
  virtual void file(Desk& desk, VcState& vc, JobId job) { desk.enqueue(vc, job); }
  /// Told of a job that has joined the queue, for the first time or after it was stopped.
  virtual void arrived(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Told of a waiting job that has been filed anew, and may be to have something else.
  virtual void refiled(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Told of a job that runs already when the policy is new.
  virtual void adopted(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Told of a job that waits no longer without having started, before it leaves VcState::waiting.
  virtual void withdrawn(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Told of a job that ended, before it leaves VcState::running.
  virtual void ended(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Told that the nodes of `vc` have changed.
  virtual void capacity_changed(VcState& vc) { static_cast<void>(vc); }
  /// Told that a timer went off; adds the virtual clusters that need a run().
  virtual void timer(std::span<VcState> vcs, std::vector<VcId>& need) {
    static_cast<void>(vcs);
    static_cast<void>(need);
  }
  /// A better answer than `reason` to why a job does not fit.
  virtual Reason refused(const VcState& vc, JobId job, const Reason& reason) const {
    static_cast<void>(vc);
    static_cast<void>(job);
    return reason;
  }
  /// The job that keeps out one that would fit, and in what way.
  virtual Reason blocker(const VcState& vc, JobId job) const = 0;
};

}  // namespace almanac::policy
