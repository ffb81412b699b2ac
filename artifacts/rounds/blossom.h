// SPDX-License-Identifier: Apache-2.0

/// \file
/// The matching of Muri's published simulator, which is not always the heaviest.
#pragma once

#include <vector>

namespace almanac::rounds {

/// weight[a][b] of the edge from a to b, 0 = there is none; weight[b][a] may differ by rounding.
using OrderedWeights = std::vector<std::vector<double>>;

/// Returns the mate of each vertex, -1 without one.
///
/// Edmonds' algorithm as that program runs it, down to the order in which it visits vertices: it
/// decides among equally good matchings, of which jobs alike make many. Its faults are kept: it
/// compares floating-point slacks with zero exactly, and ends a search at a dual that is a
/// hundred-thousandth above the step, so a matching may miss an edge.
///
/// Differs  A search ends after as many changes of duals as rounding alone can ask for, where that
///          program would run on.
/// Source   the simulator published with Zhao et al., SIGCOMM'22 (Muri).
/// Cost     O(n^3).
std::vector<int> published_matching(const OrderedWeights& weight);

}  // namespace almanac::rounds
