// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ranks points of which both coordinates should be small.
///
/// Source   Deb et al., IEEE TEC 6, 2002 (NSGA-II), sections III.A and III.B.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

namespace almanac::elastic {

struct Standing {
  int rank = 0;  ///< 0 if no point dominates it; else 1 + the largest rank that does.
  double room = std::numeric_limits<double>::infinity();  ///< Crowding distance within its rank.

  bool beats(const Standing& other) const {
    return rank < other.rank || (rank == other.rank && room > other.room);
  }
};

/// Returns the standing of each point. Of equal points, all but one have room 0. O(n log n).
std::vector<Standing> rank_and_crowd(std::span<const std::array<double, 2>> points);

}  // namespace almanac::elastic
