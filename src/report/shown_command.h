// SPDX-License-Identifier: Apache-2.0

/// \file
/// The command line as a report names it.
#pragma once

#include <string>
#include <vector>

namespace almanac::report {

/// In one piece, without --threads: it decides nothing, and a report is the same with any.
std::string shown_command(const std::vector<std::string>& command);

}  // namespace almanac::report
