// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fraction of a total that the largest values hold.
#pragma once

#include <span>

namespace almanac::stats {

/// Returns the fraction of the sum that the largest `fraction` of the values hold (at least one
/// value). Returns NaN for no values. Reorders `scratch`. Cost: O(n).
double top_share(std::span<double> scratch, double fraction);

}  // namespace almanac::stats
