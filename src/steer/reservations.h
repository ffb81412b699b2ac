// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes are reserved.
#pragma once

#include <string>

#include "base/time.h"
#include "steer/mirror.h"

namespace almanac::steer {

/// Whether a reservation has the node, or will have before `within` is over.
bool is_due(const std::string& node, const Mirror& mirror, Duration within);

}  // namespace almanac::steer
