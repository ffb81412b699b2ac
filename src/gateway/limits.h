// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// How many GPUs accounts, their users and QOS may hold, and whose users are, as the controller
/// keeps them.
#pragma once

#include <vector>

#include "base/result.h"
#include "slurm/node.h"

namespace almanac::gateway {

struct Accounts {
  slurm::Limits limits{};
  std::vector<slurm::Association> associations{};
};

/// Nothing where there is no accounting.
Result<Accounts> accounts();

}  // namespace almanac::gateway
