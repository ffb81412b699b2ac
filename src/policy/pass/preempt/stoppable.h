// SPDX-License-Identifier: Apache-2.0

/// \file
/// Running jobs of one virtual cluster that may be stopped, by the value of their work.
///
/// A stop costs a restart and, on average, half of the work between two checkpoints. So a job
/// counts here with its rank less that cost, in the unit of the order: GPU time, or run time. It
/// gives way to a waiting job whose rank, times a margin, is still below that. Ranks that are no
/// amount of time, such as deadlines, are compared as they are.
///
/// Jobs of lower tiers give way whatever the gain. If they suffice, the lowest tier stops first,
/// in a tier the job that loses the least work, and among equals the one that counts most. Jobs
/// that go before all others of their tier, as they are overdue or must meet a deadline, stop last
/// in it.
///
/// A guest is a job that started although the first in line, its host, waits, because it gives way
/// to it. It gives way to its host until it ends, however little work it has left. Otherwise jobs
/// could start past a wide job for ever: at any time, some of them would be too close to their
/// ends. A host that has stopped guests gives way to no job of its tier that is not overdue, or
/// they would stop it in turn. It is a job like others again once its rank exceeds that at its
/// start, because it runs longer than believed.
///
/// Source   ours; the ranks are those of the order.
#pragma once

#include <map>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/eviction.h"
#include "policy/kit/room_by_rank.h"

namespace almanac::policy {

class Stoppable {
 public:
  Stoppable(Desk& desk, VcId vc, double margin)
      : desk_(desk), margin_(margin), room_(desk, vc, &keys_) {}
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

  bool empty() const { return by_worth_.empty(); }
  /// A job that may be stopped runs from now on with `grants`, or no more.
  void enter(JobId job, std::span<const cluster::Grant> grants);
  /// A job that has entered now gives way only to overdue jobs and to higher tiers, until its rank
  /// exceeds its present one.
  void protect(JobId job);
  /// Makes a job that has entered a guest of `host`, which waits.
  void add_guest(JobId job, JobId host);
  /// Makes an adopted job that has entered a guest of the waiting job `host` if it started past it
  /// and would have given way to it then. Marks of guests are not stored: when a service starts
  /// again, or a forecast begins, they are derived from ranks and start times.
  void add_guest_that_started_past(JobId job, const QueueEntry& host);
  /// `host` no longer waits: its guests are jobs like others.
  void release_guests(JobId host);
  void leave(JobId job, std::span<const cluster::Grant> grants);
  bool holds(JobId job) const {
    return index(job) < keys_.size() && keys_[index(job)].sequence != kOut;
  }
  void node_changed(NodeId node) { room_.changed(node); }
  void capacity_changed() { room_.all_changed(); }
  /// Brings up to date the ranks that have jumped. Returns whether any has.
  bool review();
  /// Brings the rank of a job up to date.
  void rank_again(JobId job);
  /// Returns when review() must be called next; kNever = not without another event.
  Time next_review() const { return jumps_.empty() ? kNever : jumps_.top().at; }

  /// Returns whether a job that holds GPUs here would give way to a waiting job.
  bool gives_way(JobId job, const QueueEntry& entry) const {
    return holds(job) && (bar(entry.key) < keys_[index(job)] || is_guest_of(job, entry.job));
  }
  /// Returns whether any job here would give way to the waiting job of `key`.
  bool any_gives_way(const QueueKey& key) const {
    return !by_worth_.empty() && bar(key) < by_worth_.back().key;
  }
  /// Returns whether any job here has a lower tier.
  bool has_below(std::int32_t tier) const {
    return !by_worth_.empty() && by_worth_.back().key.tier < tier;
  }
  /// Returns whether a job that would start now with `own` would give way to that of `key`.
  bool would_give_way(JobId job, const QueueKey& own, const QueueKey& key) {
    if (!unit_) learn_unit(desk_.candidate(job));
    return bar(key) < QueueKey{.rank = worth(job, own.rank), .tier = own.tier};
  }
  /// Takes GPUs for the waiting job `entry` of `wanted`, which does not fit, from jobs that give
  /// way: of lower tiers alone if these suffice, else the worst first. Cost: O(n log n) with n
  /// running jobs of lower tiers. Empty = changed nothing. Else either stop the victims() or
  /// undo().
  std::span<const cluster::Grant> make_room(VcState& vc, const WaitingQueue::Class& wanted,
                                            const QueueEntry& entry);
  /// Does the same with the guests of `entry`.
  std::span<const cluster::Grant> make_room_with_guests(VcState& vc,
                                                        const WaitingQueue::Class& wanted,
                                                        const QueueEntry& entry);
  std::span<const JobId> victims() const { return eviction_.victims(); }
  void undo() { eviction_.undo(); }
  /// Makes the same room again after undo().
  void redo(std::span<const JobId> victims, std::span<const cluster::Grant> grants,
            const cluster::Demand& demand) {
    eviction_.redo(victims, grants, demand);
  }

 private:
  static constexpr std::uint32_t kOut = ~std::uint32_t{0};
  /// The rank of a job jumps at `at`, if it still has the key of that sequence.
  struct Jump {
    Time at{};
    JobId job{};
    std::uint32_t sequence = 0;

    friend bool operator>(const Jump& a, const Jump& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  /// What the ranks of the order are.
  struct Unit {
    double per_s = 0;  ///< By how much a second changes a rank; 0 = ranks are no amounts of time.
    bool is_gpu_time = false;
  };

  /// The place behind which running jobs give way to the waiting job of `key`. Jobs of lower tiers
  /// are behind it, whatever the margin.
  QueueKey bar(const QueueKey& key) const;
  double worth(JobId job, double rank) const;
  bool is_guest_of(JobId job, JobId host) const {
    const auto known = host_of_.find(job);
    return known != host_of_.end() && known->second == host;
  }
  /// Does the same as make_room() with jobs of lower tiers alone.
  std::span<const cluster::Grant> make_room_of_lower_tiers(VcState& vc,
                                                           const WaitingQueue::Class& wanted,
                                                           const QueueEntry& entry);
  /// Returns the guests of a host that still run.
  std::span<const JobId> guests_of(JobId host);
  /// Sets unit_, unless the rank of this job does not show it.
  void learn_unit(const Candidate& job);
  void file(JobId job);
  void set_rank(JobId job, double rank);
  /// Whether room_ can say what to stop for a job of `demand` (see PreemptingPass).
  bool knows_who_is_in_the_way(VcId vc, const cluster::Demand& demand);

  Desk& desk_;
  double margin_;
  std::optional<Unit> unit_;
  std::vector<QueueKey> keys_;         // by job; of jobs that are not held the sequence is kOut
  std::map<JobId, double> protected_;  // with the rank at the start
  std::map<JobId, JobId> host_of_;     // of each guest
  std::map<JobId, std::vector<JobId>> guests_of_;  // by host; some may have left
  RankedQueue by_worth_;
  RoomByRank room_;
  Eviction eviction_{desk_};
  std::uint32_t sequence_ = 0;
  std::priority_queue<Jump, std::vector<Jump>, std::greater<>> jumps_;
};

}  // namespace almanac::policy
