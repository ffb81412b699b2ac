// SPDX-License-Identifier: Apache-2.0

/// \file
/// Counts of run times by kind of job. A kind of which few jobs ended is filled up from a wider
/// kind, so that one number does not decide and a mean can be trusted.
///
/// Source   MacKay & Peto, Natural Language Engineering 1995 (hierarchical Dirichlet smoothing):
///          the shares of a kind are (its counts + 10 x the shares of the wider kind) / (its jobs +
///          10).
/// Differs  Counts fade by 0.998 a job of the kind, so that about the last 500 count.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "predict/distribution.h"

namespace almanac::predict {

class NestedCounts {
 public:
  using Shares = std::array<float, Distribution::kCells>;

  /// Counts a job that ended in `cell`, for each of its kinds; 0 = the kind is not known.
  void add(std::span<const std::uint64_t> kinds, std::size_t cell);
  /// The shares of the closest kind. `kinds` is ordered from the widest to the closest; `before`
  /// holds the shares before any job ended, and sums to one. About 1 us.
  Shares shares(std::span<const std::uint64_t> kinds, const Shares& before) const;

 private:
  struct Counts {
    Shares jobs{};
    float total = 0;
  };
  std::unordered_map<std::uint64_t, Counts> counts_;
};

}  // namespace almanac::predict
