// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Reads what only an administrator changes.
#pragma once

#include <string>

#include "base/result.h"
#include "manager/site.h"

namespace almanac::gateway {

Result<manager::Site> site();

/// Returns the version of libslurm, "22.05.8"; the controller's may be another.
std::string library_version();

}  // namespace almanac::gateway
