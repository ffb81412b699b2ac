// SPDX-License-Identifier: Apache-2.0

/// \file
/// Users swap GPUs of a fast type for more GPUs of a slow type if both gain.
///
/// Source   Chaudhary et al., EuroSys'20 (Gandiva-fair), section 4: trading. Written from the
///          description; no program was published.
#pragma once

#include <vector>

namespace almanac::fairness {

/// Indexed [user][type].
using Table = std::vector<std::vector<double>>;

/// Returns the GPUs of each user after all trades. `gpus` is each user's share of each type, and
/// `rates` the speed of its jobs on a GPU of each type, above 0. The user that gains least from a
/// fast type sells it to the user that gains most. The price in slow GPUs is the geometric mean of
/// both gains. Trading stops when no two gains differ by a factor above `least_gain`. The total of
/// each type stays the same, and each trade leaves both sides faster.
/// Cost     O(users) per trade; at most 4 users x types^2 trades
Table trade(Table gpus, const Table& rates, double least_gain = 1.05);

}  // namespace almanac::fairness
