// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// What changes only when an administrator changes it.
#pragma once

#include <string>

#include "base/result.h"
#include "slurm/node.h"

namespace almanac::gateway {

Result<slurm::Site> site();

/// The version of libslurm, which need not be the controller's: "22.05.8".
std::string library_version();

}  // namespace almanac::gateway
