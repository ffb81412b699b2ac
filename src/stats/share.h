// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of a total the largest few hold.
#pragma once

#include <span>

namespace almanac::stats {

/// The part of the sum held by the largest `fraction` of the values (at least one of them).
/// Reorders `scratch`; NaN for no values. O(n).
double top_share(std::span<double> scratch, double fraction);

}  // namespace almanac::stats
