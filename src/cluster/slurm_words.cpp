// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm_words.h"

#include <algorithm>
#include <cctype>

namespace almanac::cluster {

std::string in_lower_case(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

std::string_view without_blanks(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> words;
  for (line = without_blanks(line); !line.empty(); line = without_blanks(line)) {
    words.push_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(words.back().size());
  }
  return words;
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> made;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    if (!item.empty()) made.emplace_back(item);
    list.remove_prefix(std::min(item.size() + 1, list.size()));
  }
  return made;
}

}  // namespace almanac::cluster
