// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prints what policies change for the same jobs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/paired.h"

namespace almanac::cli {

/// All of `policies` but `baseline` against it, as table, csv or json. Fails with usage where it is
/// not among them, or nothing else is. Gives the exit status.
Result<int> print_paired(const std::string& baseline,
                         const std::vector<report::PairedPolicy>& policies,
                         const std::string& format);

}  // namespace almanac::cli
