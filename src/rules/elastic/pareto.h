// SPDX-License-Identifier: Apache-2.0

/// \file
/// How points stand among others where two numbers are to be small at once.
///
/// Source   Deb et al., IEEE TEC 6, 2002 (NSGA-II), sections III.A and III.B.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

namespace almanac::elastic {

struct Standing {
  int rank = 0;  ///< 0 = no other point beats it; else one more than those that beat it have.
  double room = std::numeric_limits<double>::infinity();  ///< Around it, within its rank.

  bool beats(const Standing& other) const {
    return rank < other.rank || (rank == other.rank && room > other.room);
  }
};

/// Of points that are equal all but one have no room. O(n log n).
std::vector<Standing> rank_and_crowd(std::span<const std::array<double, 2>> points);

}  // namespace almanac::elastic
