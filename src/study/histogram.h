// SPDX-License-Identifier: Apache-2.0

/// \file
/// Counts percentages in bins of 0.1, so that billions of samples need 8 KB of memory.
#pragma once

#include <array>
#include <cstdint>

namespace almanac::study {

class PercentHistogram {
 public:
  /// Counts values outside 0..100 as 0 or 100.
  void add(double percent);
  void add(const PercentHistogram& other);

  std::int64_t count() const { return count_; }
  /// Exact, up to rounding; NaN without values.
  double mean() const;
  /// Returns the value that a fraction `q` of all values does not exceed, to 0.1; NaN without
  /// values.
  double quantile(double q) const;
  /// Returns the fraction of values that are 0 (below 0.05); NaN without values.
  double zeros() const;

 private:
  static constexpr std::size_t kBins = 1001;
  std::array<std::int64_t, kBins> bins_{};
  std::int64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace almanac::study
