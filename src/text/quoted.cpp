// SPDX-License-Identifier: Apache-2.0
#include "text/quoted.h"

namespace almanac::text {

std::string quoted(const std::string& text, const char* quote_in_quotes) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? std::string(quote_in_quotes) : std::string(1, c);
  return made + "'";
}

}  // namespace almanac::text
