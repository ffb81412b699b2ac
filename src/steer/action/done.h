// SPDX-License-Identifier: Apache-2.0

/// \file
/// How a change came about, for those who keep what stands of it.
#pragma once

#include "base/time.h"

namespace almanac::steer {

struct Done {
  Time at{};             ///< By the controller's clock.
  bool is_undo = false;  ///< Takes back what others did.
  bool is_known = true;  ///< False if the controller did not answer, and may have made the change.
};

}  // namespace almanac::steer
