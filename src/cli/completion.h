// SPDX-License-Identifier: Apache-2.0

/// \file
/// Completion scripts for shells: commands, options, choices, files, folders and policies. They
/// stand alone: completing starts no program.
///
/// What a value is, its placeholder tells: POLICY and POLICIES, DIR; all else that is not a choice
/// is completed as a file.
#pragma once

#include <string>
#include <vector>

#include "cli/option_table.h"

namespace almanac::cli {

std::string bash_completion(const CommandTable& program, const std::vector<std::string>& policies);
std::string zsh_completion(const CommandTable& program, const std::vector<std::string>& policies);
std::string fish_completion(const CommandTable& program, const std::vector<std::string>& policies);

}  // namespace almanac::cli
