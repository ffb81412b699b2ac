// SPDX-License-Identifier: Apache-2.0
#include "failure/quote.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/utf8.h"

namespace almanac::failure {
namespace {

std::string escaped(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t size = text::character_size(text);
    const bool control = c == '\x7f' || (c >= 0 && c < ' ');
    if (c == '\t') {
      made += ' ';
    } else if (size == 0 || control) {
      made += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      made += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return made;
}

}  // namespace

std::string quote(std::string_view line, std::size_t at) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  while (!line.empty() && blank(line.front())) {
    line.remove_prefix(1);
    at -= at > 0 ? 1 : 0;
  }
  if (line.size() <= kLongestQuote) return escaped(line);
  // Two thirds before the match's end: the words that matched, and some that follow.
  std::size_t from = at > kLongestQuote * 2 / 3 ? at - kLongestQuote * 2 / 3 : 0;
  from = std::min(from, line.size() - kLongestQuote);
  std::size_t to = from + kLongestQuote;
  while (from > 0 && from < to && text::is_continuation(line[from])) ++from;
  while (to < line.size() && to > from && text::is_continuation(line[to])) --to;
  return fmt::format("{}{}{}", from > 0 ? "..." : "", escaped(line.substr(from, to - from)),
                     to < line.size() ? "..." : "");
}

}  // namespace almanac::failure
