// SPDX-License-Identifier: Apache-2.0

/// \file
/// The limits that a shell sets with ulimit (getrlimit(2)), as texts that can be handed on. Only
/// the soft ones: those above are the machine's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "base/result.h"

namespace almanac::process {

struct ResourceLimit {
  __rlimit_resource resource{};
  rlim_t soft = 0;
};

/// Returns the limits of this process: "nofile=1024", "core=unlimited".
std::vector<std::string> resource_limits();

/// Fails with invalid for what is no such text, or is there twice.
Result<std::vector<ResourceLimit>> read_resource_limits(const std::vector<std::string>& texts);

/// Sets each limit, capped by the hard limit. May be called between fork and exec.
void limit_resources(const std::vector<ResourceLimit>& limits);

/// Limits the number of processes, threads included, that this process and its children can reach
/// for their user (RLIMIT_NPROC, hard); root has no such limit. May be called between fork and
/// exec.
void limit_processes(std::uint64_t most);

}  // namespace almanac::process
