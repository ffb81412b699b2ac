// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tools of `almanac mcp --allow-submit` that change jobs. Each change has two steps: a preview,
/// which changes nothing and returns a token, and the change, which takes the token and does
/// exactly what was previewed.
#pragma once

#include <vector>

#include "cli/command/mcp/protocol.h"
#include "cli/service_options.h"

namespace almanac::cli::mcp {

std::vector<Tool> submit_tools(const ServiceOptions& service);

}  // namespace almanac::cli::mcp
