// SPDX-License-Identifier: Apache-2.0

/// \file
/// The statistics of a box plot.
#pragma once

#include <span>

namespace almanac::study {

/// All NaN for an empty sample.
struct Box {
  double low = 0;  ///< The smallest value within 1.5 interquartile ranges below q1.
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double high = 0;  ///< The largest value within 1.5 interquartile ranges above q3.
  double mean = 0;
};

/// Interpolates quartiles as numpy does. Sorts `sample`. Cost: O(n log n).
Box box(std::span<double> sample);

}  // namespace almanac::study
