// SPDX-License-Identifier: Apache-2.0

/// \file
/// Pairs of vertices of a graph whose edges weigh the most together.
///
/// Source   Edmonds, J. Res. NBS 69B, 1965; Galil, ACM Computing Surveys 18, 1986, section 5.
#pragma once

#include <cstdint>
#include <vector>

namespace almanac::interleave {

/// weight[a][b] = weight[b][a] of the edge between a and b; 0 or less = there is none.
using Weights = std::vector<std::vector<std::int64_t>>;

/// The mate of each vertex, -1 without: a matching of the greatest weight. Weights below 2^60.
/// Cost: O(n^3).
std::vector<int> heaviest_matching(const Weights& weight);

}  // namespace almanac::interleave
