// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is wrong with a command line, for the user who typed it.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace almanac::cli {

/// What to say after a parse of `app` that threw `error`: one line that names the nearest known
/// command or option, and where help is; of a line that ends where a command is to come, the whole
/// help.
std::string misuse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace almanac::cli
