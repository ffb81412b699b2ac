// SPDX-License-Identifier: Apache-2.0
#include "report/shown_command.h"

namespace almanac::report {

std::string shown_command(const std::vector<std::string>& command) {
  std::string shown;
  for (std::size_t at = 0; at < command.size(); ++at) {
    if (command[at] == "--threads") {
      ++at;  // and its value
    } else if (!command[at].starts_with("--threads=")) {
      shown += (shown.empty() ? "" : " ") + command[at];
    }
  }
  return shown;
}

}  // namespace almanac::report
