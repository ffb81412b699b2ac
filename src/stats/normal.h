// SPDX-License-Identifier: Apache-2.0

/// \file
/// The standard normal distribution.
///
/// Source   Wichura, Applied Statistics 1988, algorithm AS 241 (PPND16).
#pragma once

#include "base/rng.h"

namespace almanac::stats {

/// Returns P(Z <= z).
double normal_cdf(double z);

/// Returns z with P(Z <= z) = p, to 16 digits; infinite at 0 and 1.
double normal_quantile(double p);

/// Draws a value by inversion, from one random number.
inline double normal_draw(Rng& rng) { return normal_quantile(rng.uniform() + 0x1.0p-54); }

}  // namespace almanac::stats
