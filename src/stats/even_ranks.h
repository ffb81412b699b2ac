// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ranks the values of a large sample by a histogram instead of by sorting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace almanac::stats {

class EvenRanks {
 public:
  /// Counts `values`, which should have mean 0 and standard deviation 1.
  explicit EvenRanks(std::span<const float> values);

  /// Returns the approximate rank of `value` in the sample, in [0, size): exact at the borders of
  /// bins (1/512), interpolated between them. Increasing in `value` within 8 standard deviations.
  double operator()(float value) const;

 private:
  std::vector<std::uint32_t> below_;  // number of values in all lower bins
};

}  // namespace almanac::stats
