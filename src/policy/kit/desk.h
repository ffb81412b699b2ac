// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the passes of a composed policy share: the slots, what is believed of each job, and the few
/// moves that a pass makes.
///
/// A desk has four layers, each of which knows of those below only: the decision that is open
/// (desk/open_decision.h), what each job is to have (desk/job_demands.h), where it stands
/// (desk/job_line.h), and the moves, here.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/desk/job_line.h"
#include "policy/slots.h"
#include "predict/estimator.h"

namespace almanac::policy {

class DoubtedNodes;
class QuotaKeeper;

/// What a pass has its desk do for it.
struct PassNeeds {
  RunningRank running = RunningRank::none;  ///< By what VcState::running is ordered.
  bool run_times = false;                   ///< It reads what is believed of run times.
  bool whole_gpus = false;  ///< It counts GPUs: a job that asks a part of one gets a whole one.
};

class Desk : public JobLine {
 public:
  /// `shape` null = every job gets the GPUs that it asks; `size` null = the cores and memory.
  Desk(std::unique_ptr<Order> order, std::unique_ptr<Placement> placement,
       std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
       std::unique_ptr<predict::Estimator> estimator);

  /// To be called before the first decision.
  void serve(const PassNeeds& needs);
  void set_packing(Packing& packing) { packing_ = &packing; }
  /// Nodes that place() avoids; `doubted` outlives this.
  void set_doubted(const DoubtedNodes& doubted) { doubted_ = &doubted; }
  /// `keeper` is told of each job that starts.
  void set_quota_keeper(QuotaKeeper& keeper) { quota_keeper_ = &keeper; }
  /// Binds the view and the plan of one decision.
  void open(const View& view, Plan& plan);

  const Placement& placement() const { return *placement_; }
  /// Tells the placement what a job that comes asks.
  void expect(JobId job) { placement_->expect(view_->demand(view_->progress(job).demand)); }
  /// As place_demand(), but off doubted nodes where others will do.
  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<cluster::Grant>& grants) const;
  /// Takes GPUs for one more job of `demand`, with fewer cores where the size allows that; the span
  /// is valid until the next call. Empty = no, or no quota has room.
  std::span<const cluster::Grant> place(VcId vc, const cluster::Demand& demand);
  bool fits(VcId vc, const cluster::Demand& demand);
  /// Lets each job that waits in `vc` and accepts several demands ask for the first that has room,
  /// else for the best; gives those that are filed anew. Not where a size chooses too. A placement
  /// for each demand of such a job.
  std::span<const JobId> choose_again(VcState& vc);

  /// Takes half of the GPUs of a running job for `job`, which finds no place; empty = no. A job
  /// that may not be stopped joins none, because a pair that slows both is parted by stopping one.
  std::span<const cluster::Grant> join(VcId vc, JobId job);
  /// Whether jobs may run two on GPUs that they ask for whole, and whether a running one does.
  bool packs() const { return packing_ != nullptr; }
  bool is_paired(JobId job) const;

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
  /// Gives a running job other cores and memory of the nodes that it holds; takes and gives back in
  /// the ledger, where the difference must be free.
  void resize(JobId job, std::span<const cluster::Grant> grants);
  /// Gives a job that runs, or starts in this very plan, another part of each of its GPUs; takes
  /// and gives back in the ledger.
  void hold_part(JobId job, std::int32_t gpu_milli) { hold_part(job, gpu_milli, grants(job)); }
  /// The same on the nodes of `where` only.
  void hold_part(JobId job, std::int32_t gpu_milli, std::span<const cluster::Grant> where);

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
  Acceptable first_with_room(VcId vc, JobId job);
  void top_up(const cluster::Demand& demand);

  std::unique_ptr<Placement> placement_;
  std::vector<JobId> chosen_again_;
  std::vector<cluster::Grant> grants_;
  Packing* packing_ = nullptr;
  QuotaKeeper* quota_keeper_ = nullptr;
  const DoubtedNodes* doubted_ = nullptr;
  bool whole_gpus_ = false;  // as PassNeeds has it
};

/// One way of going through a queue.
class Pass {
 public:
  virtual ~Pass() = default;
  /// What its desk is to do for it. Asked once.
  virtual PassNeeds needs() const { return {}; }
  /// Whether no job waits for ever behind others once its rank is the least, however wrong what is
  /// believed of their run times.
  virtual bool bounds_wait_of_first() const { return false; }
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
