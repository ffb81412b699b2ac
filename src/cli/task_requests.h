// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests of single-pass models: random ones, or those of a log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "deployment/task_run.h"

namespace almanac::cli {

/// Returns the requests of a log to `services`, by the tasks that they name as models; to the only
/// service if they name none. Prints the notes of the log on stderr. Fails as reading the log does,
/// and with `invalid` for a task without a service.
Result<std::vector<deployment::TaskArrival>> task_requests(
    const std::string& path, const std::string& column_map,
    const std::vector<deployment::TaskService>& services);

/// Returns random requests over `seconds`. Fails with `usage`, before it makes any, if they would
/// be too many to simulate.
Result<std::vector<deployment::TaskArrival>> random_requests(
    const std::vector<deployment::TaskService>& services, double seconds, std::uint64_t seed);

}  // namespace almanac::cli
