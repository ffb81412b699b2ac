// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a job that is not submitted yet would start: asks the service for each combination of
/// virtual cluster, number of GPUs and time limit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "serve/client.h"
#include "service/changed_forecasts.h"
#include "service/expected.h"
#include "service/starts_if.h"
#include "store/job.h"

namespace almanac::serve {

/// What the job may request. Empty lists: every virtual cluster, one GPU, no time limit.
struct WhatIf {
  std::vector<std::string> vcs{};
  std::vector<int> gpus{};
  std::vector<std::string> limits{};  ///< "2:00:00", as submit takes them.
  std::string gpu_type{};
  std::string cpus{};
  std::string memory{};
  std::string name{};  ///< Of the job; past run times of this name predict its run time.

  bool any() const { return !gpus.empty() || !limits.empty() || !vcs.empty(); }
};

/// One combination.
struct Shape {
  store::Submission asked{};
  std::optional<service::Expected> expected{};
  std::string never{};  ///< Why the service would refuse the job; "" if it can start.
};

/// Returns each combination with its forecast, if it were submitted at `now`. Waits up to 30 s.
/// Fails with usage for a request that submit refuses, or for more than 32 combinations.
Result<std::vector<Shape>> foresee(Client& client, const WhatIf& what, Time now);

/// Returns what the forecasts of all jobs would become after `changes`. Waits up to 30 s. Fails as
/// Service::foresee() does.
Result<service::ChangedForecasts> foresee(Client& client, const std::vector<std::string>& changes);

/// Returns the changes that would start a waiting job now. Waits up to 30 s. Fails as
/// Service::starts_if() does.
Result<service::StartsIf> find_changes(Client& client, const std::string& job);

}  // namespace almanac::serve
