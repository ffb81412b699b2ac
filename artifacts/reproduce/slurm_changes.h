// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the commands of a recorded scenario changed of its site.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "site/site.h"

namespace almanac::reproduce {

/// Returns the parts of `text` between `separator`, without empty ones.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

/// Returns KEY and VALUE of "sed -i 's/^KEY=.*/KEY=VALUE/' $SLURM_CONF; scontrol reconfigure".
std::optional<std::pair<std::string, std::string>> changed_setting(std::string_view command);

/// Applies what sacctmgr add or modify sets of users, accounts and QOS, as far as priorities depend
/// on it: fairshare, priority, usagefactor and the limits on how many jobs age. Returns false if
/// that is nothing. The default columns of sacctmgr do not show the last.
bool apply_sacctmgr(std::string_view command, site::Site& site);

}  // namespace almanac::reproduce
