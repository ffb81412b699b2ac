// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an estimator says of a job at its submission, in the forms in which it is asked.
#pragma once

#include <cmath>
#include <limits>

#include "predict/distribution.h"
#include "predict/estimator.h"

namespace almanac::predict {

/// log10 seconds all. An estimator that knows but one number says it in all three places.
struct Forecast {
  double typical = 0;  ///< The number that is off by a small factor most often: to tell a user.
  double median = 0;   ///< As often too long as too short: least error in seconds.
  double center = 0;   ///< The mean: to order jobs by.
  double low = std::numeric_limits<double>::quiet_NaN();       ///< 90 % lie from here
  double high = std::numeric_limits<double>::quiet_NaN();      ///< to here; NaN = nothing is said.
  double position = std::numeric_limits<double>::quiet_NaN();  ///< Filled in when the truth is
                                                               ///< known: its quantile, 0 .. 1.
};

}  // namespace almanac::predict
