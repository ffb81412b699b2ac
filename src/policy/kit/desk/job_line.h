// SPDX-License-Identifier: Apache-2.0

/// \file
/// Where each job stands: those that wait in the queue of their virtual cluster, at the rank that
/// the order gives, and those that run, as far as the pass needs them in order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "policy/kit/desk/dominant_shares.h"
#include "policy/kit/desk/job_demands.h"
#include "policy/kit/desk/queue.h"
#include "policy/kit/oldest_first.h"
#include "policy/slots.h"

namespace almanac::policy {

/// One virtual cluster as a pass sees it.
struct VcState {
  VcId vc{};
  WaitingQueue waiting{};
  RankedQueue running{};   ///< Kept only for passes that ask for it (PassNeeds::running).
  JobId blocked = kNoJob;  ///< Could not be placed, and no GPU has come free since.
};

/// Rank under which a job that runs is filed in VcState::running.
enum class RunningRank : std::uint8_t { none, of_order, believed_end };

class JobLine : public JobDemands {
 public:
  JobLine(std::unique_ptr<Order> order, std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
          std::unique_ptr<predict::Estimator> estimator);

  const Order& order() const { return *order_; }
  /// Lets jobs that have waited for `cap` go before all others (kit/oldest_first.h). To be called
  /// before the first job comes.
  void put_oldest_first(Duration cap);
  Duration age_cap() const { return cap_; }  ///< kNoDuration = there is none.
  /// Whether a job has waited for that long.
  bool is_old(JobId job) const { return cap_ != kNoDuration && is_beyond(cap_, candidate(job)); }
  Candidate candidate(JobId job) const;
  QueueKey key(JobId job) const { return slots_[index(job)].key(); }

  /// Puts a job in the queue at its rank.
  void enqueue(VcState& vc, JobId job);
  /// Puts a job in the queue at a rank of the caller's.
  void enqueue_at(VcState& vc, JobId job, double rank, double tie);
  /// Takes a job that has not started out of the queue.
  void withdraw(VcState& vc, JobId job);
  /// Files those waiting jobs anew whose shape or rank may be another by now, and gives them.
  std::span<const JobId> refile(std::span<VcState> vcs);
  /// When refile() is to be called next; kNever = as things are, never.
  Time next_refile() const { return stale_.empty() ? kNever : stale_.begin()->first; }
  /// Gives a job of which chooses_shape() is so another shape: a waiting one is filed anew, a
  /// running one is to be moved.
  void reshape(VcState& vc, JobId job, const Shaped& shape);

  /// What the ranks of all running jobs have fallen by since time zero: running jobs are filed
  /// without it. 0 where each falls with the work that it does.
  double fallen() const;
  /// The key of a running job, by which it would be filed now.
  QueueKey running_key(JobId job) const;
  /// Files a running job anew under `rank`.
  void refile_running(VcState& vc, JobId job, double rank);
  /// Files all running jobs under their running_key().
  void refile_running(VcState& vc);
  /// When a running job ends at the latest, by its bound.
  Time believed_end(JobId job) const;

 protected:
  /// Makes room for all jobs of the view.
  void make_room() {
    if (slots_.size() < view_->num_jobs()) slots_.resize(view_->num_jobs());
    if (chooses()) make_room_for_choices();
    if (tells_shares_ && !shares_) shares_.emplace(view_->cluster);
  }
  void rank_running_by(RunningRank rank) { running_rank_ = rank; }
  /// Files a job anew as the slots say, in the place that it had in the queue.
  void file_again(VcState& vc, JobId job);
  /// Files a job that starts to run now with `grants`, and waited until now.
  void add_started(VcState& vc, JobId job, std::span<const cluster::Grant> grants);
  /// Files a job that runs with `held` already.
  void add_adopted(VcState& vc, JobId job, std::span<const cluster::Grant> held);
  void remove_running(VcState& vc, JobId job) {
    if (running_rank_ != RunningRank::none) vc.running.erase(key(job));
  }

 private:
  /// Of a job that was withdrawn: another host of jobs may have it, and it may still wait there.
  static constexpr std::uint32_t kNotFiled = ~std::uint32_t{0};
  struct Slot {
    double rank = 0;
    double tie = 0;
    std::uint32_t sequence = 0;

    QueueKey key() const { return {rank, tie, sequence}; }
  };

  /// Puts a job in the queue as the slots say.
  void file(VcState& vc, JobId job, std::uint32_t sequence);
  void file(VcState& vc, JobId job, double rank, double tie, std::uint32_t sequence);
  /// When a job that holds `grants` from now on ends at the latest, by its bound, as a rank.
  double end_rank(JobId job, std::span<const cluster::Grant> grants) const;
  /// Whether the ranks of running jobs fall, and not all alike.
  bool falls_with_work() const { return view_->telemetry != nullptr && order_->drift() != 0; }

  std::unique_ptr<Order> order_;
  Duration cap_ = kNoDuration;            // of the wait; then a job is old
  bool tells_shares_;                     // whether the order reads them
  std::optional<DominantShares> shares_;  // the same, once there is a view
  RunningRank running_rank_ = RunningRank::none;
  std::vector<Slot> slots_;  // by job
  std::vector<JobId> refiled_;
  /// Until when what waiting jobs are filed under stands.
  std::set<std::pair<Time, JobId>> stale_;
  std::uint32_t sequence_ = 0;
};

}  // namespace almanac::policy
