// SPDX-License-Identifier: Apache-2.0
#include "text/without_password.h"

namespace almanac::text {

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

}  // namespace almanac::text
