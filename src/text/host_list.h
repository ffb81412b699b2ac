// SPDX-License-Identifier: Apache-2.0

/// \file
/// Slurm's notation for many nodes: "g[001-004,7],x1".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::text {

/// The most nodes that Slurm accepts (MAX_SLURM_NODES, slurm.h).
inline constexpr std::size_t kMostHosts = 65'533;

/// Returns all names, in order. Leading zeros stay: "[08-11]" is 08, 09, 10, 11. A name may have
/// several brackets: "r[1-2]n[1-2]". Fails with invalid for another notation or more than
/// kMostHosts names.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

/// Returns `names`, joined by commas without brackets.
std::string join_hosts(std::span<const std::string> names);

}  // namespace almanac::text
