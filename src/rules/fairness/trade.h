// SPDX-License-Identifier: Apache-2.0

/// \file
/// Users swap GPUs of a fast type for more GPUs of a slow one, where that pays for both.
///
/// Source   Chaudhary et al., EuroSys'20 (Gandiva-fair), section 4: trading. Ours is from its
///          description; no program was published.
#pragma once

#include <vector>

namespace almanac::fairness {

/// [user][type].
using Table = std::vector<std::vector<double>>;

/// `gpus`: of each type that each user is due. `rates`: how fast a user's jobs run on a GPU of a
/// type; above 0. Whoever gains least from a fast type sells it to whoever gains most, at the
/// geometric mean of both gains as the price in slow GPUs, until no two differ by `least_gain`. The
/// sums of each type stay, and a trade leaves both sides faster than before.
/// Cost: O(users) a trade; at most 4 users x types^2 trades.
Table trade(Table gpus, const Table& rates, double least_gain = 1.05);

}  // namespace almanac::fairness
