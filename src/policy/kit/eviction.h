// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes room for a job by stopping others: the one search for that, whichever jobs may be stopped
/// and in whatever order.
///
/// Victims give back what they hold until the job can be placed. Those that then turn out not to be
/// in its way go on, the last to give way first. If the job finds no place, no job gives way.
///
/// A job submitted with --no-requeue is no victim, gives nothing to others and is not moved.
///
/// Nothing starts on a node that is drained, sleeps or boots: a job that holds nothing elsewhere is
/// no victim, what it holds is not dealt out, and it is not moved.
///
/// Source   ours. The published simulators stop jobs by counting GPUs and may then fail to place
///          the job for which they stopped them.
#pragma once

#include <span>
#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Whether all nodes of a running job are ready and its user lets it be stopped: it could move to
/// other nodes and they to other jobs.
bool may_move(Desk& desk, JobId job);
/// GPUs that there are for others if a running job is stopped.
int gpus_to_deal(Desk& desk, JobId job);

/// Cost: a placement for each victim that is tried once enough GPUs are free.
class Eviction {
 public:
  explicit Eviction(Desk& desk) : desk_(desk) {}

  /// Places a job of `demand` after as many of those that `next()` names as it takes gave way, the
  /// one to be kept longest last; kNoJob = no other may. The span is as that of Desk::place().
  /// Empty = changed nothing. Otherwise victims() must be stopped.
  template <typename Next>
  std::span<const cluster::Grant> make_room(VcId vc, const cluster::Demand& demand, Next&& next);
  /// The same for a list, the first to give way first; without a try if all of them hold too few
  /// GPUs.
  std::span<const cluster::Grant> make_room_from(VcId vc, const cluster::Demand& demand,
                                                 std::span<const JobId> jobs);
  /// Those that gave way and are in the way, the first to give way first; valid until the next
  /// search.
  std::span<const JobId> victims() const { return victims_; }

  /// The same by hand: begin(), then free() until there is room, take it, settle(); or undo().
  void begin();
  /// A running job gives way if its user lets it be stopped and a job of `demand` could start on
  /// any of its nodes; gives whether.
  bool free(JobId job, const cluster::Demand& demand);
  /// Lets those go on whose GPUs, cores and memory are still free; the others give back all.
  void settle();
  /// As if no job had given way, and nothing had been taken, since begin().
  void undo();
  /// Does again what was undone: `victims` of a search for `demand` give way, and `grants` are
  /// taken. Another search might find other ones: see Placement::draws().
  void redo(std::span<const JobId> victims, std::span<const cluster::Grant> grants,
            const cluster::Demand& demand);

 private:
  void give_back(std::span<const cluster::Grant> held, bool ready);
  bool go_on(JobId job);

  Desk& desk_;
  std::size_t begun_ = 0;
  std::vector<JobId> victims_;
};

template <typename Next>
std::span<const cluster::Grant> Eviction::make_room(VcId vc, const cluster::Demand& demand,
                                                    Next&& next) {
  begin();
  for (JobId job = next(); job != kNoJob; job = next()) {
    if (!free(job, demand)) continue;
    if (desk_.ledger().free_gpus(vc, demand) < demand.gpus) continue;
    const auto grants = desk_.place(vc, demand);
    if (grants.empty()) continue;
    settle();
    return grants;
  }
  undo();
  return {};
}

}  // namespace almanac::policy
