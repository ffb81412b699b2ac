// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ranks a large sample by counting rather than sorting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace almanac::stats {

class EvenRanks {
 public:
  /// Counts the values, which should be around 0 with a spread around 1.
  explicit EvenRanks(std::span<const float> values);

  /// The rank of `value` in the sample, in [0, size). Increasing; exact to the fine bins it
  /// counts in, inside which it is even.
  double operator()(float value) const;

 private:
  std::vector<std::uint32_t> below_;  // how many values lie in the bins below
};

}  // namespace almanac::stats
