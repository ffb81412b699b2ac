// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/placeholders.h"

#include <regex>

namespace almanac::trials {
namespace {

const std::regex& pattern() {
  static const std::regex made(R"(\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\})",
                               std::regex::ECMAScript | std::regex::optimize);
  return made;
}

}  // namespace

bool is_reserved(std::string_view name) { return name == "trial" || name == "flags"; }

std::string filled(std::string_view word,
                   const std::function<std::string(const std::string&)>& value) {
  const std::string text(word);
  std::string made;
  auto from = text.cbegin();
  for (std::sregex_iterator each(text.begin(), text.end(), pattern()), end; each != end; ++each) {
    made.append(from, (*each)[0].first);
    made += (*each)[1].matched ? "{" + (*each)[1].str() + "}" : value((*each)[2].str());
    from = (*each)[0].second;
  }
  return made.append(from, text.cend());
}

std::vector<std::string> placeholders(std::string_view word) {
  std::vector<std::string> names;
  filled(word, [&](const std::string& name) {
    names.push_back(name);
    return std::string();
  });
  return names;
}

}  // namespace almanac::trials
