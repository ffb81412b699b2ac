// SPDX-License-Identifier: Apache-2.0
#include "text/wrap.h"

#include <algorithm>
#include <cctype>

namespace almanac::text {

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

namespace {

bool digit(char byte) { return byte >= '0' && byte <= '9'; }

bool begins_with_a_number(std::string_view word) {
  if (word.starts_with('(')) word.remove_prefix(1);
  return !word.empty() && digit(word[0]);
}

// Whether this text belongs to the number before it: "%", or "27m" of "7h 27m".
bool continues_a_number(std::string_view text) {
  if (text.starts_with('%')) return true;
  return text.size() >= 3 && digit(text[0]) && digit(text[1]) &&
         std::string_view("hms").find(text[2]) != std::string_view::npos &&
         (text.size() == 3 || std::isalnum(static_cast<unsigned char>(text[3])) == 0);
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find(' ', at), text.size());
    while (end < text.size() && begins_with_a_number(text.substr(at)) &&
           continues_a_number(text.substr(end + 1))) {
      end = std::min(text.find(' ', end + 1), text.size());
    }
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (width_of(line) + 1 + width_of(word) <= width) {
      line.append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

}  // namespace almanac::text
