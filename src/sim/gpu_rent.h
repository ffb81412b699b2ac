// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which signals are the rent of GPUs of a type, per hour: `price/TYPE` of those that jobs hold,
/// `reserved/TYPE` of all that there are.
#pragma once

#include <string_view>

#include "sim/signal_meter.h"

namespace almanac::sim {

/// Whether a signal is `reserved/TYPE`. The `held_` sums of its SignalUse are over all GPUs of the
/// type, as if jobs held them all the time.
inline bool is_reserved_price(std::string_view signal) { return signal.starts_with("reserved/"); }

inline bool is_gpu_rent(std::string_view signal) {
  return is_gpu_price(signal) || is_reserved_price(signal);
}

}  // namespace almanac::sim
