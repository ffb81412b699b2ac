// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a waiting job is expected to start and end.
#pragma once

#include <optional>

#include "base/time.h"

namespace almanac::live {

/// Each with nine in ten.
struct Expected {
  Time at{};  ///< When this was worked out.
  Time start_from{}, start_to{}, start_by{};
  Time end_from{}, end_to{}, end_by{};
  std::optional<double> kept{};  ///< Chance to end by its deadline.
};

}  // namespace almanac::live
