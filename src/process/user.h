// SPDX-License-Identifier: Apache-2.0

/// \file
/// A user that a process becomes, and the groups that the system's directory of users gives it.
#pragma once

#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace almanac::process {

/// User to become; only root can become another.
struct User {
  uid_t uid;
  gid_t gid;
  std::vector<gid_t> groups{};  ///< All groups of the process; empty = `gid` alone.
};

/// Returns the groups of the user's login, including `gid`. Fails with `not_found` if the system
/// knows no such user, and with `unavailable` if the directory cannot be queried now: a server does
/// not answer, or no descriptor is left. May wait for a server on the network, so do not call it in
/// a forked child.
Result<std::vector<gid_t>> groups_of(const User& user);

}  // namespace almanac::process
