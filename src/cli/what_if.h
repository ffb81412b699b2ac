// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a job would start that nobody has submitted yet: asks the service for each combination of
/// virtual cluster, number of GPUs and time limit.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/list_options.h"
#include "cli/service_options.h"

namespace almanac::cli {

/// What may be asked of one job. Of each list at least one; no virtual cluster = all of them.
struct WhatIf {
  ServiceOptions service{};
  std::vector<std::string> vcs{};
  std::vector<int> gpus{};
  std::vector<std::string> limits{};  ///< "2:00:00", as submit takes them.
  std::string gpu_type{};
  std::string cpus{};
  std::string memory{};
  std::string name{};  ///< Of the job: what earlier ones of it took is believed of it.

  bool any() const { return !gpus.empty() || !limits.empty() || !vcs.empty(); }
};

/// Prints a row for each combination. Waits up to half a minute for the forecasts.
Result<int> what_if(const WhatIf& what, const ListOptions& list);

}  // namespace almanac::cli
