// SPDX-License-Identifier: Apache-2.0

/// \file
/// Resources that jobs of a service allocated and used, as the service measured them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/service_options.h"
#include "study/efficiency.h"

namespace almanac::cli {

/// Returns running jobs and those that ended since then, of `user` ("" = all). Use that was
/// measured for less than half of a job's time counts as unknown.
Result<std::vector<study::JobUse>> use_of_jobs(const ServiceOptions& service, Time since,
                                               const std::string& user);

/// Returns the use of one job, by its number.
Result<std::vector<study::JobUse>> use_of_job(const ServiceOptions& service,
                                              const std::string& number);

}  // namespace almanac::cli
