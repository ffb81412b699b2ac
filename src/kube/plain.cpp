// SPDX-License-Identifier: Apache-2.0
#include "kube/plain.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "text/utf8.h"

namespace almanac::kube {

namespace {

/// Deeper values of an object become null; none of Kubernetes' objects has them.
constexpr int kDeepestValue = 64;

bool is_control(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  // U+0080 to U+009F are C2 80 to C2 9F.
  const bool is_c1 = byte >= 0x80 && byte < 0xA0 && at > 0 && text[at - 1] == '\xC2';
  return is_c1 || byte < 0x20 || byte == 0x7F;
}

std::string without_control(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is = is_control(text, at);
    if (is && static_cast<unsigned char>(text[at]) >= 0x80) made.pop_back();
    made += is ? ' ' : text[at];
  }
  return made;
}

void make_plain_to(nlohmann::json& value, int depth) {
  if (depth > kDeepestValue) {
    value = nullptr;
  } else if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    if (has_control(text)) text = without_control(text);
  } else if (value.is_array()) {
    for (nlohmann::json& each : value) make_plain_to(each, depth + 1);
  } else if (value.is_object()) {
    std::vector<std::string> unsafe;
    for (auto each = value.begin(); each != value.end(); ++each) {
      make_plain_to(each.value(), depth + 1);
      if (has_control(each.key())) unsafe.push_back(each.key());
    }
    for (const std::string& name : unsafe) {
      nlohmann::json moved = std::move(value[name]);
      value.erase(name);
      value[without_control(name)] = std::move(moved);
    }
  }
}

}  // namespace

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

void make_plain(nlohmann::json& value) { make_plain_to(value, 0); }

}  // namespace almanac::kube
