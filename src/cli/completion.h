// SPDX-License-Identifier: Apache-2.0

/// \file
/// Completion scripts for shells: commands, options, choices, files, folders and policies. They
/// stand alone: completing starts no program.
///
/// The placeholder of a value decides how it is completed: POLICY and POLICIES as policies, DIR as
/// a folder, choices as such, and everything else as a file.
#pragma once

#include <string>
#include <vector>

#include "cli/option_table.h"

namespace almanac::cli {

std::string bash_completion(const CommandTable& program, const std::vector<std::string>& policies);
std::string zsh_completion(const CommandTable& program, const std::vector<std::string>& policies);
std::string fish_completion(const CommandTable& program, const std::vector<std::string>& policies);

}  // namespace almanac::cli
