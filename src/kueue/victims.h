// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds running workloads to preempt for another one.
///
/// Source   Kueue v0.19, pkg/scheduler/preemption: preemption.go, classical/, fairsharing/.
/// Differs  Preempted workloads give their quota back at once, so none is preferred because it is
///          evicted already; use of LocalQueues does not count.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kueue/world.h"

namespace almanac::kueue {

/// Kueue's reasons of a preemption.
enum class Reason : std::uint8_t {
  in_cluster_queue,
  in_cohort_reclamation,
  in_cohort_reclaim_while_borrowing,
  in_cohort_fair_sharing,
};
/// "InClusterQueue", "InCohortReclamation", ...
std::string_view name_of(Reason reason);

struct Victim {
  Workload* workload = nullptr;
  Reason reason = Reason::in_cluster_queue;
};

/// Returns whom to preempt so that `workload` can have `wants`, of which `needed` do not fit; empty
/// if that is not allowed or not enough. Nothing has changed afterwards.
/// Cost: O(n log n + n d) for n running workloads in the tree of depth d, and wants of constant
/// size; with fair sharing O(n q d) for q queues.
std::vector<Victim> find_victims(World& world, const Workload& workload,
                                 const std::vector<Slot>& needed, const Wants& wants);

/// The two ways, by Kueue's configuration.
std::vector<Victim> find_classical_victims(World& world, const Workload& workload,
                                           const std::vector<Slot>& needed, const Wants& wants);
std::vector<Victim> find_fair_victims(World& world, const Workload& workload,
                                      const std::vector<Slot>& needed, const Wants& wants);

/// Whether a running workload has any of `slots`.
bool uses_any(const Workload& running, const std::vector<Slot>& slots);

/// Whether `queue` has room for `wants`.
bool has_room(const QuotaTree& tree, QueueAt queue, const Wants& wants, bool may_borrow);

/// Puts back, in reverse order, each removed victim without which there is room all the same. The
/// last one is always needed.
void put_back_spared(World& world, QueueAt queue, const Wants& wants, bool may_borrow,
                     std::vector<Victim>& victims);

}  // namespace almanac::kueue
