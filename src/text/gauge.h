// SPDX-License-Identifier: Apache-2.0

/// \file
/// Bars for shares, for terminals.
#pragma once

#include <string>

namespace almanac::text {

/// Returns "[|||||||             ]" for 0.35: 20 places between brackets, in ASCII. Shares are
/// clipped to 0 and 1; NaN is an empty bar. `colour`: the bar is red below 25 %, yellow below 50 %,
/// and green from there on.
std::string gauge(double share, bool colour);

}  // namespace almanac::text
