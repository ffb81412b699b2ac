// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a request missed its objective.
#pragma once

#include <string_view>

#include "inference/service.h"

namespace almanac::inference {

enum class Loss {
  none,
  turned_away,   ///< No replica can hold it, or its turn came too late.
  unfinished,    ///< The run ended first.
  waited,        ///< First token late; it waited longer than it was computed.
  long_prefill,  ///< First token late; its prefill took longer than its wait.
  sent_back,     ///< Preempted for lack of memory, then late.
  slow_tokens,   ///< First token in time, later tokens slow.
};
inline constexpr std::size_t kLosses = 7;

/// Returns the reason; if several apply, the one that comes first in the life of a request.
Loss loss_of(const Request& request, const Outcome& outcome, const Objective& objective);
/// Returns, for example, "waited for a replica".
std::string_view to_string(Loss loss);

}  // namespace almanac::inference
