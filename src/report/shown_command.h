// SPDX-License-Identifier: Apache-2.0

/// \file
/// The command line as reports show it.
#pragma once

#include <string>
#include <vector>

namespace almanac::report {

/// Returns the command without these options (such as "--threads") and their values.
std::vector<std::string> without_options(const std::vector<std::string>& command,
                                         const std::vector<std::string>& options);

/// Returns the command as one string without the options that change only where and how it runs
/// (--threads, --engine, --parts, --sbatch). They do not change a report.
std::string shown_command(const std::vector<std::string>& command);

}  // namespace almanac::report
