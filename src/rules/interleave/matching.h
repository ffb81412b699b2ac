// SPDX-License-Identifier: Apache-2.0

/// \file
/// Maximum-weight matching in a general graph.
///
/// Source   Edmonds, J. Res. NBS 69B, 1965; Galil, ACM Computing Surveys 18, 1986, section 5.
#pragma once

#include <cstdint>
#include <vector>

namespace almanac::interleave {

/// weight[a][b] = weight[b][a] is the weight of the edge between a and b; 0 or less means no edge.
using Weights = std::vector<std::vector<std::int64_t>>;

/// Returns the mate of each vertex in a maximum-weight matching, or -1 without a mate. Weights must
/// be below 2^60. O(n^3).
std::vector<int> heaviest_matching(const Weights& weight);

}  // namespace almanac::interleave
