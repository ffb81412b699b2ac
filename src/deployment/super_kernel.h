// SPDX-License-Identifier: Apache-2.0

/// \file
/// The next operator of several queries, of one or several models, at the same time on one GPU.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "deployment/dispatch.h"

namespace almanac::deployment {

/// A query that may take part.
struct KernelQuery {
  std::size_t request = 0, variant = 0;
  int done = 0, left = 0;  ///< Operators.
  double headroom_ms = 0;  ///< From now to its deadline.
  double slack_ms = 0;     ///< Headroom less its time alone.
};

/// Returns the queries that the GPU of `seen` may run, in the order of their slack, the least
/// first. O(queries log queries).
std::vector<KernelQuery> kernel_queries(const DispatchCase& seen);

/// Queries of one variant that have run equally many operators are a batch. A super-kernel takes as
/// long as its longest batch, and at least as long as all of them take if each fills its variant's
/// knee of the GPU.
class SuperKernel {
 public:
  explicit SuperKernel(std::span<const Variant> variants) : variants_(variants) {}

  /// Adds a query if its batch has room and every query would be in time if all its operators took
  /// as long as this one. Returns whether it did. O(queries).
  bool add(const KernelQuery& query);
  /// What runs now; nothing if it has no queries.
  std::optional<Dispatched> dispatched() const;

 private:
  double takes_ms() const;

  std::span<const Variant> variants_;
  std::vector<KernelQuery> queries_;
  std::map<std::pair<std::size_t, int>, int> batches_;  // by variant and operators done
};

}  // namespace almanac::deployment
