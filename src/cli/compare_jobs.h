// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares policies job by job.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/list_options.h"
#include "report/paired.h"

namespace almanac::cli {

/// Prints the other `policies` against `baseline`. Fails with usage if the baseline or another
/// policy is missing. Returns the exit status.
Result<int> compare_jobs(const std::string& baseline,
                         const std::vector<report::PairedPolicy>& policies,
                         const ListOptions& list);

}  // namespace almanac::cli
