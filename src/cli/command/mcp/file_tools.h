// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tools of `almanac mcp` that read job logs and run directories. Each runs a command of this
/// program with -o json, so its data are those of the command, and a cancelled call ends it.
#pragma once

#include <string>
#include <vector>

#include "cli/command/mcp/protocol.h"

namespace almanac::cli::mcp {

/// `configuration` is the file of --config for the commands; "" = none was given.
std::vector<Tool> file_tools(const std::string& configuration);

}  // namespace almanac::cli::mcp
