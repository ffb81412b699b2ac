// SPDX-License-Identifier: Apache-2.0

/// \file
/// The order of a StrictFIFO queue, which looks at its first workload only: those that start now,
/// the head, which does not fit yet, and the rest. A workload goes before the head only if it lets
/// the head start as early as without it.
///
/// Source   Lifka 1995, "The ANL/IBM SP scheduling system": EASY backfilling.
/// Differs  Quotas of several flavors and resources instead of nodes. A workload goes before a head
///          of its own priority only, because Kueue looks at higher priorities first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "kueue/world.h"

namespace almanac::kueue {

/// What holds quota of the queue.
struct Holding {
  Wants usage{};
  Duration left = kNoDuration;  ///< Expected, from now on; kNoDuration = it does not end.
};

/// A workload that waits.
struct Waiting {
  Workload* workload = nullptr;
  std::int64_t priority = 0;   ///< Without ranks.
  Duration run = kNoDuration;  ///< Expected; kNoDuration = unknown.
};

struct Backfill {
  std::vector<std::size_t> now{};     ///< Positions of those that start now, in order.
  std::optional<std::size_t> head{};  ///< Position of the one that the queue waits for.
};

/// At most this many start before the order is computed again.
inline constexpr std::size_t kMostNow = 19;

/// Requires that the queue shares no cohort with another and preempts nothing, that `holding` is
/// what `world` has in use there, and that priorities do not grow along `line`, the order to reach.
/// A workload that would not fit even if all that ends had ended is no head. `world` is as before
/// afterwards. Cost: O(h log h) for h that hold quota, and a search for flavors for each shape
/// of pods after each that starts.
Backfill backfill(World& world, QueueAt queue, std::span<const Holding> holding,
                  std::span<const Waiting> line);

}  // namespace almanac::kueue
