// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `sharing`: jobs that would do each other no harm on one GPU. It does nothing yet, and
/// says what keeps it from that.
#pragma once

#include <memory>

#include "steer/lever.h"

namespace almanac::steer {

std::unique_ptr<Lever> make_sharing_lever();

}  // namespace almanac::steer
