// SPDX-License-Identifier: Apache-2.0

/// \file
/// Explains a wrong command line.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace almanac::cli {

/// Returns the message for a parse of `app` that threw `error`: one line with the nearest known
/// command or option and the command for help. If a command is missing, returns the whole help.
std::string misuse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace almanac::cli
