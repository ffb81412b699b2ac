// SPDX-License-Identifier: Apache-2.0

/// \file
/// The place of each job: waiting jobs in the queue of their virtual cluster, by the rank of the
/// order, and running jobs as far as the pass needs them in order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "policy/contract/may_stop.h"
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
  RankedQueue running{};   ///< Only for passes that request it (PassNeeds::running).
  JobId blocked = kNoJob;  ///< Could not be placed, and no GPU has become free since.
};

/// Rank of a running job in VcState::running.
enum class RunningRank : std::uint8_t { none, of_order, believed_end };

class JobLine : public JobDemands {
 public:
  JobLine(std::unique_ptr<Order> order, std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
          std::unique_ptr<predict::Estimator> estimator);

  const Order& order() const { return *order_; }
  /// Puts jobs that have waited for `cap` before all others, those of higher tiers too
  /// (kit/oldest_first.h). Call before the first job arrives.
  void put_oldest_first(Duration cap);
  Duration age_cap() const { return cap_; }  ///< kNoDuration if there is none.
  /// Ranks by what `make(order)` returns for the present order. Call it before the first job comes.
  template <typename Make>
  void rank_by(Make&& make) {
    order_ = make(std::move(order_));
  }
  /// Sets which running jobs the order may stop (Candidate::may_stop); by default none.
  void let_stop(Stops stops) { stops_ = stops; }
  /// Whether a job has waited for at least the age cap.
  bool is_old(JobId job) const { return cap_ != kNoDuration && is_beyond(cap_, candidate(job)); }
  Candidate candidate(JobId job) const;
  QueueKey key(JobId job) const { return slots_[index(job)].key(); }

  /// Returns what puts `first`, which waits, before `job`. Cost: ranks both.
  Precedence precedence(JobId first, JobId job) const;

  /// Puts a job in the queue at its rank.
  void enqueue(VcState& vc, JobId job);
  /// Puts a job in the queue at a given rank.
  void enqueue_at(VcState& vc, JobId job, double rank, double tie);
  /// Takes a job that has not started out of the queue.
  void withdraw(VcState& vc, JobId job);
  /// Files waiting jobs again whose shape or rank may have changed by now, and returns them.
  std::span<const JobId> refile(std::span<VcState> vcs);
  /// Files a waiting job again at the rank that it has now.
  void rank_again(VcState& vc, JobId job);
  /// Sees to it that a waiting job is ranked again at a time, not before the next refile().
  void ask_again(JobId job, Time at);
  /// Returns when to call refile() next; kNever if not, as things are.
  Time next_refile() const { return stale_.empty() ? kNever : stale_.begin()->first; }
  /// Changes the shape of a job for which chooses_shape() is true. A waiting job is filed again;
  /// the caller must move a running one.
  void reshape(VcState& vc, JobId job, const Shaped& shape);

  /// Returns by how much the ranks of all running jobs have fallen since time zero; they are filed
  /// without that. 0 if each falls with the work that it does.
  double fallen() const;
  /// Returns the key under which a running job would be filed now.
  QueueKey running_key(JobId job) const;
  /// Files a running job again under `rank`.
  void refile_running(VcState& vc, JobId job, double rank);
  /// Files all running jobs again under their running_key().
  void refile_running(VcState& vc);
  /// Returns when a running job ends at the latest, by its bound.
  Time believed_end(JobId job) const;

 protected:
  /// Makes sure that all jobs of the view have a slot.
  void make_room() {
    if (slots_.size() < view_->num_jobs()) slots_.resize(view_->num_jobs());
    if (chooses()) make_room_for_choices();
    if (tells_shares_ && !shares_) shares_.emplace(view_->cluster);
  }
  void rank_running_by(RunningRank rank) { running_rank_ = rank; }
  /// Files a job again as the slots say, keeping its position among equals.
  void file_again(VcState& vc, JobId job);
  /// Files a job that waited until now and starts with `grants`.
  void add_started(VcState& vc, JobId job, std::span<const cluster::Grant> grants);
  /// Files a job that already runs with `held`.
  void add_adopted(VcState& vc, JobId job, std::span<const cluster::Grant> held);
  void remove_running(VcState& vc, JobId job) {
    if (running_rank_ != RunningRank::none) vc.running.erase(key(job));
  }

 private:
  /// Sequence of a job that was withdrawn: another object may have it, and it may still wait there.
  static constexpr std::uint32_t kNotFiled = ~std::uint32_t{0};
  static constexpr std::int32_t kBeforeAllTiers = cluster::kMostTier + 1;
  struct Slot {
    double rank = 0;
    double tie = 0;
    std::uint32_t sequence = 0;
    std::int32_t tier = 0;  // 0 for running jobs that are filed by their end

    QueueKey key() const { return {rank, tie, sequence, tier}; }
  };

  /// Puts a job in the queue as the slots say.
  void file(VcState& vc, JobId job, std::uint32_t sequence);
  void file(VcState& vc, JobId job, const Slot& slot);
  /// Returns, as a rank, when a job that holds `grants` from now on ends at the latest, by its
  /// bound.
  double end_rank(JobId job, std::span<const cluster::Grant> grants) const;
  /// Whether the ranks of running jobs fall at different speeds.
  bool falls_with_work() const { return view_->telemetry != nullptr && order_->drift() != 0; }

  std::unique_ptr<Order> order_;
  Stops stops_ = Stops::none;
  Duration cap_ = kNoDuration;            // wait after which a job is old
  bool tells_shares_;                     // whether the order reads shares
  std::optional<DominantShares> shares_;  // set once there is a view
  RunningRank running_rank_ = RunningRank::none;
  std::vector<Slot> slots_;  // by job
  std::vector<JobId> refiled_;
  /// The time until which the entry of each waiting job holds.
  std::set<std::pair<Time, JobId>> stale_;
  std::uint32_t sequence_ = 0;
};

}  // namespace almanac::policy
