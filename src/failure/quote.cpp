// SPDX-License-Identifier: Apache-2.0
#include "failure/quote.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace almanac::failure {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The bytes of the UTF-8 character that `text` begins with; 0 = it is none.
std::size_t character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size),
                   is_continuation)) {
    return 0;
  }
  // Overlong forms, surrogates and what lies beyond Unicode show in the second byte.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool misfit = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return misfit ? 0 : size;
}

std::string escaped(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t size = character(text);
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
  while (from > 0 && from < to && is_continuation(line[from])) ++from;
  while (to < line.size() && to > from && is_continuation(line[to])) --to;
  return fmt::format("{}{}{}", from > 0 ? "..." : "", escaped(line.substr(from, to - from)),
                     to < line.size() ? "..." : "");
}

}  // namespace almanac::failure
