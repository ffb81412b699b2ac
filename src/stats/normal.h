// SPDX-License-Identifier: Apache-2.0

/// \file
/// The standard normal distribution.
///
/// Source   Wichura, Applied Statistics 1988, algorithm AS 241 (PPND16).
#pragma once

namespace almanac::stats {

/// P(Z <= z).
double normal_cdf(double z);

/// The z with P(Z <= z) = p, to 16 digits; infinite at 0 and 1.
double normal_quantile(double p);

}  // namespace almanac::stats
