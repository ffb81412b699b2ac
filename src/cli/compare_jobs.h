// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prints what policies change for the same jobs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/list_options.h"
#include "report/paired.h"

namespace almanac::cli {

/// Prints all of `policies` but `baseline` against it. Fails with usage where it is not among them,
/// or nothing else is. Gives the exit status.
Result<int> compare_jobs(const std::string& baseline,
                         const std::vector<report::PairedPolicy>& policies,
                         const ListOptions& list);

}  // namespace almanac::cli
