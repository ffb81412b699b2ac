// SPDX-License-Identifier: Apache-2.0

/// \file
/// Student's t distribution, for the uncertainty of the mean of a small sample.
#pragma once

namespace almanac::stats {

/// Returns the t that |T| exceeds with probability `tails`, 0 < tails < 1; `freedom` >= 1.
double student_two_tailed(double tails, double freedom);

}  // namespace almanac::stats
