// SPDX-License-Identifier: Apache-2.0

/// \file
/// The processors that this process may use.
#pragma once

#include <vector>

namespace almanac::process {

/// Their numbers, rising, as the scheduler has them; cpusets and taskset(1) count.
std::vector<int> allowed_cpus();

}  // namespace almanac::process
