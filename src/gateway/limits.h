// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Reads from the controller how many GPUs accounts, their users and QOS may hold, and which users
/// belong to which accounts.
#pragma once

#include <vector>

#include "base/result.h"
#include "manager/node.h"

namespace almanac::gateway {

struct Accounts {
  manager::Limits limits{};
  std::vector<manager::Association> associations{};
};

/// Returns empty lists if the site has no accounting.
Result<Accounts> accounts();

}  // namespace almanac::gateway
