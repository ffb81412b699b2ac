// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts of an estimator for a job at its submission, in the forms that callers need.
#pragma once

#include <cmath>
#include <limits>

#include "predict/distribution.h"
#include "predict/estimator.h"

namespace almanac::predict {

/// All in log10 seconds. An estimator that predicts a single number gives it for all three.
struct Forecast {
  double typical = 0;  ///< Most often right within a small factor; for users.
  double median = 0;   ///< As often too long as too short; least error in seconds.
  double center = 0;   ///< Mean; for ordering jobs.
  double low = std::numeric_limits<double>::quiet_NaN();   ///< Start of the 90 % interval.
  double high = std::numeric_limits<double>::quiet_NaN();  ///< Its end; NaN without an interval.
  /// Run time that nine in ten such jobs stay below; NaN without a distribution.
  double by_90 = std::numeric_limits<double>::quiet_NaN();
  double position = std::numeric_limits<double>::quiet_NaN();  ///< Quantile of the true run time,
                                                               ///< 0 .. 1; set once it is known.
};

}  // namespace almanac::predict
