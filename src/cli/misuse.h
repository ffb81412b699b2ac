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

/// Throws CLI::ValidationError if an option of the command that `app` parsed has an empty value,
/// which would have the effect of no option. Only a comment may be empty.
void refuse_empty_values(const CLI::App& app);

}  // namespace almanac::cli
