// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace almanac::cli {

std::size_t terminal_columns() {
  std::size_t columns = 0;
  if (const char* const given = std::getenv("COLUMNS")) {
    std::from_chars(given, given + std::string_view(given).size(), columns);
  } else if (winsize size{}; ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    columns = size.ws_col;
  }
  return columns;
}

}  // namespace almanac::cli
