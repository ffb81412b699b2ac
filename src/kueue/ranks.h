// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ranks that make Kueue start the first workloads of a queue in another order.
///
/// A rank is what is added to the priority of a workload. Ranks come in few bands, because Kueue
/// looks at workloads of one priority and shape together: if each of 1000 workloads had a priority
/// of its own, each end would cost Kueue 1000 cycles. Within a band Kueue's own order counts, by
/// creation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace almanac::kueue {

/// The first workload of a line has the highest rank, the next four share one, and so do the 15
/// after them. All others have rank 0.
inline constexpr std::array<std::size_t, 3> kBandEnds{1, 5, 20};
inline constexpr std::int64_t kHighestRank = std::ssize(kBandEnds);

/// A workload that waits, as Kueue orders it.
struct Ranked {
  std::int64_t base = 0;  ///< Priority without rank.
  std::int64_t rank = 0;
  Time created{};
  std::string_view uid{};
};

/// Whether Kueue looks at `a` before `b`.
bool goes_before(const Ranked& a, const Ranked& b);

/// Returns the ranks that a line should have, whose order is the one to reach: those with which
/// Kueue starts those before each of the `ends`, the first 1, 5 and 20, before all others. Present
/// ranks that do so already stay, and the last of a line needs none. Requires that bases do not
/// grow along the line, and no more ends than kHighestRank, in order. O(n).
std::vector<std::int64_t> ranks_of(std::span<const Ranked> line,
                                   std::span<const std::size_t> ends = kBandEnds);

/// Returns the priority for a rank, within 32 bits: one number above stops Kueue.
std::int64_t ranked_priority(std::int64_t base, std::int64_t rank);

/// Returns how urgent the change of a rank is; more goes first. The first of each line matter most,
/// and a rank that is too high keeps them from their place.
inline std::int64_t urgency_of(std::int64_t was, std::int64_t becomes) {
  return std::max(was, becomes);
}

}  // namespace almanac::kueue
