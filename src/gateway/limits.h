// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// How many GPUs accounts, their users and QOS may hold, and whose users are, as the controller
/// keeps them.
#pragma once

#include "base/result.h"
#include "slurm/node.h"

namespace almanac::gateway {

/// Nothing where there is no accounting.
Result<slurm::Limits> limits();

}  // namespace almanac::gateway
