// SPDX-License-Identifier: Apache-2.0
#include "report/shown_command.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace almanac::report {

std::vector<std::string> without_options(const std::vector<std::string>& command,
                                         const std::vector<std::string>& options) {
  std::vector<std::string> left;
  for (std::size_t at = 0; at < command.size(); ++at) {
    const std::string& word = command[at];
    const auto named = [&](const std::string& option) { return word == option; };
    const auto valued = [&](const std::string& option) { return word.starts_with(option + "="); };
    if (std::any_of(options.begin(), options.end(), named)) {
      ++at;  // and its value
    } else if (std::none_of(options.begin(), options.end(), valued)) {
      left.push_back(word);
    }
  }
  return left;
}

std::string shown_command(const std::vector<std::string>& command) {
  return fmt::format(
      "{}",
      fmt::join(without_options(command, {"--threads", "--engine", "--parts", "--sbatch"}), " "));
}

}  // namespace almanac::report
