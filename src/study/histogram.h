// SPDX-License-Identifier: Apache-2.0

/// \file
/// Counts percentages in bins of 0.1, so that billions of samples take a page of memory.
#pragma once

#include <array>
#include <cstdint>

namespace almanac::study {

class PercentHistogram {
 public:
  /// Values outside 0..100 count as the nearer end.
  void add(double percent);
  void add(const PercentHistogram& other);

  std::int64_t count() const { return count_; }
  /// Exact; NaN without values.
  double mean() const;
  /// The value that a share `q` of all does not exceed, to 0.1; NaN without values.
  double quantile(double q) const;
  /// The share of the values that are 0 (below 0.05); NaN without values.
  double zeros() const;

 private:
  static constexpr std::size_t kBins = 1001;
  std::array<std::int64_t, kBins> bins_{};
  std::int64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace almanac::study
