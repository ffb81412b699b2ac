// SPDX-License-Identifier: Apache-2.0

/// \file
/// Where a column of numbers is cut into bins for growing trees.
///
/// Source   XGBoost 1.7, src/common/quantile.{h,cc}: its weighted quantile sketch where all weights
///          are one. The same cuts, bit for bit, since another cut makes another tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace almanac::predict {

struct QuantileCuts {
  float below = 0;             ///< Less than all values.
  std::vector<float> upper{};  ///< Ascending; bin i ends before upper[i]. The last exceeds all
                               ///< values.

  /// The bin of a value of the column.
  std::uint8_t bin_of(float value) const;
};

/// Cuts `values`, in the order of the rows, into at most `bins` bins of about as many values each.
/// Without values there is one bin. `bins` is 255 at most.
/// Cost: O(n log n) for n values.
QuantileCuts quantile_cuts(std::span<const float> values, std::size_t bins);

}  // namespace almanac::predict
