// SPDX-License-Identifier: Apache-2.0

/// \file
/// The command line as a report names it.
#pragma once

#include <string>
#include <vector>

namespace almanac::report {

/// Without these options ("--threads") and the value of each.
std::vector<std::string> without_options(const std::vector<std::string>& command,
                                         const std::vector<std::string>& options);

/// In one piece, without what says only where and how widely it is computed (--threads, --engine,
/// --parts, --sbatch): that decides nothing, and a report is the same with any.
std::string shown_command(const std::vector<std::string>& command);

}  // namespace almanac::report
