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
  std::vector<double> left_ms{};  ///< Time of each remaining operator alone; at least one.
};

/// Returns the time in milliseconds of the first operators of all queries together, for the given
/// number of operators per query. Increases with each number.
using OverlapTime = std::function<double(const std::vector<std::size_t>& operators)>;

/// Returns how many operators of each query to run now: all of the most urgent query, and of the
/// others, in order of urgency, as many as leave it in time. All 0: it is late even alone; drop it.
/// At most `most` queries take part. Calls `together` O(queries x log operators) times.
///
/// Source   Cui et al., SC'21 (Abacus): groups of contiguous operators of up to four queries,
///          headed by the one with the least headroom beyond its time alone. The number of
///          operators of the others is searched with predictions of the duration of a group, which
///          is never interrupted.
/// Differs  The search bisects; theirs evaluates several predictions of a learned model at a time.
std::vector<std::size_t> overlapped_group(const std::vector<OverlapQuery>& queries,
                                          const OverlapTime& together, std::size_t most = 4);

}  // namespace almanac::deployment
