// SPDX-License-Identifier: Apache-2.0
#include "kube/plain.h"

#include <cstddef>

#include "text/utf8.h"

namespace almanac::kube {

namespace {

bool is_control(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  // U+0080 to U+009F are C2 80 to C2 9F.
  const bool is_c1 = byte >= 0x80 && byte < 0xA0 && at > 0 && text[at - 1] == '\xC2';
  return is_c1 || byte < 0x20 || byte == 0x7F;
}

}  // namespace

std::string without_control(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is = is_control(text, at);
    if (is && static_cast<unsigned char>(text[at]) >= 0x80) made.pop_back();
    made += is ? ' ' : text[at];
  }
  return made;
}

std::string plain(std::string_view text) {
  constexpr std::size_t kMost = 500;
  return without_control(text::mend_utf8(text.substr(0, kMost)));
}

bool has_control(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_control(text, at)) return true;
  }
  return false;
}

}  // namespace almanac::kube
