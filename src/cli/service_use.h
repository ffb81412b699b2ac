// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs of a service used of what they held, as it measured and keeps it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/service_options.h"
#include "study/efficiency.h"

namespace almanac::cli {

/// Jobs that ended since, and those that run; of `user`, "" = of all. Use that was measured in less
/// than half of a job's time counts as not known.
Result<std::vector<study::JobUse>> use_of_jobs(const ServiceOptions& service, Time since,
                                               const std::string& user);

/// Of one job, by its number.
Result<std::vector<study::JobUse>> use_of_job(const ServiceOptions& service,
                                              const std::string& number);

}  // namespace almanac::cli
