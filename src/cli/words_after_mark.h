// SPDX-License-Identifier: Apache-2.0

/// \file
/// The command line that follows "--".
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace almanac::cli {

/// Returns the words after "--" unchanged, because CLI11 would split "[1,2]".
inline std::vector<std::string> words_after_mark(const std::vector<std::string>& command_line,
                                                 const std::vector<std::string>& otherwise) {
  const auto mark = std::find(command_line.begin(), command_line.end(), "--");
  if (mark == command_line.end()) return otherwise;
  return {mark + 1, command_line.end()};
}

}  // namespace almanac::cli
