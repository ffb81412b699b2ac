// SPDX-License-Identifier: Apache-2.0
#include "kube/plain.h"

#include <cstddef>

#include "text/utf8.h"

namespace almanac::kube {

std::string plain(std::string_view text) {
  constexpr std::size_t kMost = 500;
  std::string made;
  for (const std::string mended = text::mend_utf8(text.substr(0, kMost)); const char c : mended) {
    const auto byte = static_cast<unsigned char>(c);
    // U+0080 to U+009F are C2 80 to C2 9F.
    const bool is_c1 = byte < 0xA0 && !made.empty() && made.back() == '\xC2';
    if (is_c1) made.pop_back();
    made += is_c1 || byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return made;
}

}  // namespace almanac::kube
