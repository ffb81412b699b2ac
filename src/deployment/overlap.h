// SPDX-License-Identifier: Apache-2.0

/// \file
/// Operators of several queries that run at the same time on one GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace almanac::deployment {

/// A query that is under way or waits.
struct OverlapQuery {
  double headroom_ms = 0;         ///< From now to its deadline.
  std::vector<double> left_ms{};  ///< Of each operator that is left, alone; one at least.
};

/// How long so many of the first operators of each query take together, milliseconds; none of a
/// query that has 0. Grows with each number.
using OverlapTime = std::function<double(const std::vector<std::size_t>& operators)>;

/// How many operators of each query run now: all of the one that is most urgent, and of the others,
/// the more urgent first, as many as leave it in time. All 0 = it is late even alone; drop it.
/// At most `most` queries take part. Calls `together` O(queries x log operators) times.
///
/// Source   Cui et al., SC'21 (Abacus): groups of contiguous operators of up to four queries,
/// headed
///          by the one of least headroom beyond what it takes alone; how many of the others' is a
///          search over predictions of a group's duration, which is never interrupted.
/// Differs  The search halves where theirs asks for several predictions at a time, of a learnt
/// model.
std::vector<std::size_t> overlapped_group(const std::vector<OverlapQuery>& queries,
                                          const OverlapTime& together, std::size_t most = 4);

}  // namespace almanac::deployment
