// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "text/without_password.h"

namespace almanac::cli {
namespace {

/// Where the text of a line begins: behind its indentation, or behind a word that is followed by
/// two blanks or more.
std::size_t text_column(std::string_view line, std::size_t most) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", first);
  if (gap == std::string_view::npos) return first;
  const std::size_t text = line.find_first_not_of(' ', gap);
  return text == std::string_view::npos || text > most ? first : text;
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  std::size_t columns = 0;
  if (const char* const given = std::getenv("COLUMNS")) {
    std::from_chars(given, given + std::string_view(given).size(), columns);
  } else if (winsize size{}; ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
    columns = size.ws_col;
  }
  return columns;
}

std::string fitted_to_terminal(std::string_view text, int descriptor) {
  const std::size_t columns = terminal_columns(descriptor);
  std::string made;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    const std::size_t column = text_column(line, columns / 2);
    while (columns > 0 && line.size() > columns) {
      const std::size_t blank = line.rfind(' ', columns);
      if (blank == std::string::npos || blank <= column) break;
      made += line.substr(0, blank) + "\n";
      line = std::string(column, ' ') + line.substr(blank + 1);
    }
    made += line;
    if (end < text.size()) made += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return made;
}

void print_message(std::string_view text) {
  // Any message may repeat a word that the user gave, so all are looked through here.
  const bool is_read_by_a_person = ::isatty(STDERR_FILENO) != 0;
  const std::string shown = text::without_passwords(text);
  fmt::print(stderr, "{}\n",
             is_read_by_a_person ? fitted_to_terminal(shown, STDERR_FILENO) : shown);
}

}  // namespace almanac::cli
