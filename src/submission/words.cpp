// SPDX-License-Identifier: Apache-2.0
#include "submission/words.h"

#include <fmt/format.h>

namespace almanac::submission {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  char quote = '\0';
  bool within = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (!within && quote == '\0') {
      if (is_blank(c)) continue;
      if (c == '#') break;
      words.emplace_back();
      within = true;
    }
    if (c == '\\' && quote != '\'' && at + 1 < line.size()) {
      words.back() += line[++at];
    } else if (quote != '\0') {
      c == quote ? void(quote = '\0') : words.back().push_back(c);
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (is_blank(c)) {
      within = false;
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') return fail(Code::invalid, fmt::format("the quote {} is not closed", quote));
  return words;
}

}  // namespace almanac::submission
