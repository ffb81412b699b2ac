// SPDX-License-Identifier: Apache-2.0

/// \file
/// A command that the user gives to be run.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace almanac::cli {

/// The user's words behind "--" as they are: the parser would take "[1,2]" apart.
inline std::vector<std::string> words_after_mark(const std::vector<std::string>& command_line,
                                                 const std::vector<std::string>& otherwise) {
  const auto mark = std::find(command_line.begin(), command_line.end(), "--");
  if (mark == command_line.end()) return otherwise;
  return {mark + 1, command_line.end()};
}

}  // namespace almanac::cli
