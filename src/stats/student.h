// SPDX-License-Identifier: Apache-2.0

/// \file
/// Student's t distribution: how far a mean of few may be off.
#pragma once

namespace almanac::stats {

/// The t that |T| exceeds with probability `tails`, 0 < tails < 1; `freedom` at least 1.
double student_two_tailed(double tails, double freedom);

}  // namespace almanac::stats
