// SPDX-License-Identifier: Apache-2.0

/// \file
/// The processors that a process may use.
#pragma once

#include <vector>

#include <sys/types.h>

namespace almanac::process {

/// The processors of this process: their numbers, rising, as the scheduler has them; cpusets and
/// taskset(1) count.
std::vector<int> allowed_cpus();
/// Binds a thread (0 for this one), and what it starts from now on, to processors in ascending
/// order. Returns false, with errno, on failure.
bool bind_to_cpus(pid_t thread, const int* cpus, int count);

}  // namespace almanac::process
