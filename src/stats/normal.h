// SPDX-License-Identifier: Apache-2.0

/// \file
/// The standard normal distribution.
///
/// Source   Wichura, Applied Statistics 1988, algorithm AS 241 (PPND16).
#pragma once

#include "base/rng.h"

namespace almanac::stats {

/// P(Z <= z).
double normal_cdf(double z);

/// The z with P(Z <= z) = p, to 16 digits; infinite at 0 and 1.
double normal_quantile(double p);

/// A draw from the distribution, by inversion: one random number and, mostly, no logarithm.
inline double normal_draw(Rng& rng) { return normal_quantile(rng.uniform() + 0x1.0p-54); }

}  // namespace almanac::stats
