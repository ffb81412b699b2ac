// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cuts a column of numbers into bins for growing trees.
///
/// Source   XGBoost 1.7, src/common/quantile.{h,cc}: its weighted quantile sketch if all weights
///          are one. The cuts are the same, bit for bit, because other cuts give other trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace almanac::predict {

struct QuantileCuts {
  float below = 0;             ///< Smaller than all values.
  std::vector<float> upper{};  ///< Ascending; bin i ends before upper[i]. The last exceeds all
                               ///< values.

  /// Returns the bin of a value of the column.
  std::uint8_t bin_of(float value) const;
};

/// Cuts `values`, in the order of the rows, into at most `bins` bins with about equal numbers of
/// values. Without values there is one bin. `bins` is at most 255.
/// Cost: O(n log n) for n values.
QuantileCuts quantile_cuts(std::span<const float> values, std::size_t bins);

}  // namespace almanac::predict
