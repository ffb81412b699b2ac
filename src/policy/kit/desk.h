// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the passes of a composed policy share: the slots, the estimates of jobs, and the few moves
/// that a pass makes.
///
/// A desk has four layers, each of which knows only those below: the open decision
/// (desk/open_decision.h), the demand of each job (desk/job_demands.h), its place in the queue
/// (desk/job_line.h), and the moves, in this header.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/desk/job_line.h"
#include "policy/slots.h"
#include "predict/estimator.h"

namespace almanac::policy {

class DoubtedNodes;
class QuotaKeeper;

/// What a pass requires of its desk.
struct PassNeeds {
  RunningRank running = RunningRank::none;  ///< Order of VcState::running.
  bool run_times = false;                   ///< It reads estimated run times.
  bool whole_gpus = false;  ///< It counts GPUs; a job that requests a part gets a whole GPU.
};

class Desk : public JobLine {
 public:
  /// Without a `shape`, every job gets the GPUs it requests; without a `size`, its cores and
  /// memory.
  Desk(std::unique_ptr<Order> order, std::unique_ptr<Placement> placement,
       std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
       std::unique_ptr<predict::Estimator> estimator);

  /// Call before the first decision.
  void serve(const PassNeeds& needs);
  void set_packing(Packing& packing) { packing_ = &packing; }
  /// Sets the nodes that place() avoids; `doubted` must outlive this object.
  void set_doubted(const DoubtedNodes& doubted) { doubted_ = &doubted; }
  /// Reports each job that starts to `keeper`.
  void set_quota_keeper(QuotaKeeper& keeper) { quota_keeper_ = &keeper; }
  /// Binds the view and the plan of one decision.
  void open(const View& view, Plan& plan);

  const Placement& placement() const { return *placement_; }
  /// Reports the demand of an arriving job to the placement.
  void expect(JobId job) { placement_->expect(view_->demand(view_->progress(job).demand)); }
  /// As place_demand(), but avoids doubted nodes if possible.
  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<cluster::Grant>& grants) const;
  /// Takes GPUs for one more job of `demand`, with fewer cores if the size allows that. The span is
  /// valid until the next call; empty if there is no room, or no quota has room.
  std::span<const cluster::Grant> place(VcId vc, const cluster::Demand& demand);
  bool fits(VcId vc, const cluster::Demand& demand);
  /// Makes each job that waits in `vc` and accepts several demands request the first with room, or
  /// else the best one. Returns the jobs that were filed again. Does nothing if a size chooses as
  /// well. Costs a placement per demand of such a job.
  std::span<const JobId> choose_again(VcState& vc);

  /// Takes half of the GPUs of a running job for `job`, which finds no place; empty if impossible.
  /// A job that may not be stopped joins none, because a slow pair is parted by stopping one.
  std::span<const cluster::Grant> join(VcId vc, JobId job);
  /// Whether jobs that request whole GPUs may share them, and whether a running one does.
  bool packs() const { return packing_ != nullptr; }
  bool is_paired(JobId job) const;

  /// Starts jobs in order of rank until one cannot be placed. Returns whether any started.
  bool start_in_order(VcState& vc);
  /// Moves a job from the queue to running, on GPUs that are already taken. `entry` may be the
  /// queue's own.
  void start(VcState& vc, QueueEntry entry, std::span<const cluster::Grant> grants);
  void start(VcState& vc, JobId job, std::span<const cluster::Grant> grants);
  /// Takes a job that has not started out of the queue.
  void withdraw(VcState& vc, JobId job) {
    stopped_for_.erase(job);
    JobLine::withdraw(vc, job);
  }
  /// Gives the GPUs of a running job back in the ledger: the first half of stopping it.
  void give_back(JobId job);
  /// Stops a running job whose GPUs are already given back. It joins the queue in the next
  /// decision.
  void stop(VcState& vc, JobId job);
  /// Does the same, and remembers for why_stopped() that `first`, which waits, gets its GPUs.
  void stop_for(VcState& vc, JobId job, JobId first);
  /// Returns the GPU-seconds that a stop costs a running job: a restart and, on average, half of
  /// the work between two checkpoints.
  double stop_cost_gpu_s(JobId job) const;
  /// Returns why a job that waits was stopped; null if it was not stopped for another job, or that
  /// job has ended or been stopped since.
  const Reason* why_stopped(JobId job) const;
  void ended(VcState& vc, JobId job);
  /// Records a job that no longer runs but should continue; the caller must queue it again.
  void failed(VcState& vc, JobId job);
  /// Files a job that was already running when the policy began.
  void adopt(VcState& vc, JobId job);
  /// Continues a running job, which has given back what it held, with `grants`, which are already
  /// taken.
  void move(JobId job, std::span<const cluster::Grant> grants);
  /// Changes the cores and memory of a running job on its nodes. Takes and gives back in the
  /// ledger, where the difference must be free.
  void resize(JobId job, std::span<const cluster::Grant> grants);
  /// Changes the part that a job holds of each of its GPUs; the job runs, or starts in this plan.
  /// Takes and gives back in the ledger.
  void hold_part(JobId job, std::int32_t gpu_milli) { hold_part(job, gpu_milli, grants(job)); }
  /// Does the same on the nodes of `where` only.
  void hold_part(JobId job, std::int32_t gpu_milli, std::span<const cluster::Grant> where);

  /// Jobs stopped by this plan and by the one before; the pipeline queues them again.
  std::vector<JobId> stopped;
  /// Nodes on which jobs gave back or took something other than GPUs since the passes last looked;
  /// may contain duplicates.
  std::vector<NodeId> touched;
  /// Running jobs that no job may join.
  std::set<JobId> apart;
  /// Whether a resize of this decision gave something back.
  bool freed = false;

 private:
  Acceptable first_with_room(VcId vc, JobId job);
  void top_up(const cluster::Demand& demand);

  std::unique_ptr<Placement> placement_;
  std::vector<JobId> chosen_again_;
  std::vector<cluster::Grant> grants_;
  struct StoppedFor {
    Reason reason;
    std::uint32_t preemptions = 0;  // of the other job
  };
  std::unordered_map<JobId, StoppedFor> stopped_for_;  // jobs that wait again
  Packing* packing_ = nullptr;
  QuotaKeeper* quota_keeper_ = nullptr;
  const DoubtedNodes* doubted_ = nullptr;
  bool whole_gpus_ = false;  // as in PassNeeds
};

/// One way of going through a queue.
class Pass {
 public:
  virtual ~Pass() = default;
  /// Returns what its desk must do for it. Called once.
  virtual PassNeeds needs() const { return {}; }
  /// Whether no job with the smallest rank waits behind others forever, however wrong the estimated
  /// run times are.
  virtual bool bounds_wait_of_first() const { return false; }
  /// Plans all that can change now in `vc`.
  virtual void run(VcState& vc) = 0;
  /// Files an arriving job in the queue of `vc`.
  virtual void file(Desk& desk, VcState& vc, JobId job) { desk.enqueue(vc, job); }
  /// Called for a job that has joined the queue, for the first time or after it was stopped.
  virtual void arrived(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Called for a waiting job that was filed again, possibly with another demand.
  virtual void refiled(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Called for a job that was already running when the policy began.
  virtual void adopted(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Called for a waiting job that leaves without having started, before it leaves
  /// VcState::waiting.
  virtual void withdrawn(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Called for a job that ended, before it leaves VcState::running.
  virtual void ended(VcState& vc, JobId job) {
    static_cast<void>(vc);
    static_cast<void>(job);
  }
  /// Called after the nodes of `vc` have changed.
  virtual void capacity_changed(VcState& vc) { static_cast<void>(vc); }
  /// Called at a timer; adds the virtual clusters that need a run().
  virtual void timer(std::span<VcState> vcs, std::vector<VcId>& need) {
    static_cast<void>(vcs);
    static_cast<void>(need);
  }
  /// Returns a better answer than `reason` to why a job does not fit.
  virtual Reason refused(const VcState& vc, JobId job, const Reason& reason) const {
    static_cast<void>(vc);
    static_cast<void>(job);
    return reason;
  }
  /// Returns the job that blocks one that would fit, and in what way.
  virtual Reason blocker(const VcState& vc, JobId job) const = 0;
};

}  // namespace almanac::policy
