// SPDX-License-Identifier: Apache-2.0
#include "text/without_password.h"

#include <algorithm>

namespace almanac::text {
namespace {

/// Where the user begins in a word of a message; npos if the word has none. `at` is its last @.
std::size_t user_in(std::string_view word, std::size_t at) {
  // One slash suffices: a program that takes an address for a path shortens the two.
  if (const std::size_t scheme = word.find(":/"); scheme < at)
    return word.find_first_not_of('/', scheme + 1);
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
  const std::size_t begin = word.find_first_not_of("\"'`([", equals < at ? equals + 1 : 0);
  const std::size_t first = word.find_first_of("/:@", begin);
  return word[first] == ':' ? begin : std::string_view::npos;
}

}  // namespace

std::string without_password(std::string_view address) {
  constexpr std::string_view kMark = "://";
  const std::size_t scheme = address.find(kMark);
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + kMark.size();
  const std::size_t at = address.rfind('@');
  const std::size_t first = address.find_first_of("/:@", begin);
  const bool is_path = begin == 0 && first != std::string_view::npos && address[first] == '/';
  // A password may hold a slash, so what follows the last @ counts, even if it is in a path.
  if (at == std::string_view::npos || at < begin || is_path) return std::string(address);
  return std::string(address.substr(0, begin)) + "***" + std::string(address.substr(at));
}

std::string without_passwords(std::string_view message) {
  constexpr std::string_view kBlanks = " \t\n";
  std::string made;
  while (!message.empty()) {
    const std::size_t begin = std::min(message.find_first_not_of(kBlanks), message.size());
    const std::size_t end = std::min(message.find_first_of(kBlanks, begin), message.size());
    const std::string_view word = message.substr(begin, end - begin);
    const std::size_t at = word.rfind('@');
    const std::size_t user = at == std::string_view::npos ? at : user_in(word, at);
    made += message.substr(0, begin);
    if (user == std::string_view::npos) {
      made += word;
    } else {
      made.append(word.substr(0, user)).append("***").append(word.substr(at));
    }
    message.remove_prefix(end);
  }
  return made;
}

}  // namespace almanac::text
