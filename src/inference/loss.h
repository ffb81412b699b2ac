// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a request was not served as asked.
#pragma once

#include <string_view>

#include "inference/service.h"

namespace almanac::inference {

enum class Loss {
  none,
  turned_away,   ///< No replica can hold it, or it was too late when its turn came.
  unfinished,    ///< The run ended before it.
  waited,        ///< Its first token was late, for it waited longer than it was computed.
  long_prefill,  ///< Its first token was late, for its prompt took longer than it had waited.
  sent_back,     ///< It was sent back to the queue for want of memory, and then late.
  slow_tokens,   ///< Its first token was in time, those after it were slow.
};
inline constexpr std::size_t kLosses = 7;

/// Where several hold, the first that a request meets: the first token comes before the others.
Loss loss_of(const Request& request, const Outcome& outcome, const Objective& objective);
/// "waited for a replica".
std::string_view to_string(Loss loss);

}  // namespace almanac::inference
