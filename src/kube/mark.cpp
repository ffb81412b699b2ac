// SPDX-License-Identifier: Apache-2.0
#include "kube/mark.h"

#include <limits>

#include <nlohmann/json.hpp>

namespace almanac::kube {
namespace {

constexpr auto kMost32 = std::numeric_limits<std::int32_t>::max();

bool has_32_bits(std::int64_t number) {
  return number >= std::numeric_limits<std::int32_t>::min() && number <= kMost32;
}

}  // namespace

std::string to_text(const Mark& mark) {
  return nlohmann::json{
      {"field", to_string(mark.field)}, {"base", mark.base}, {"value", mark.value}}
      .dump();
}

std::optional<Mark> parse_mark(std::string_view text) {
  if (text.size() > kLongestMark) return std::nullopt;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&](const char* key) -> std::optional<std::int64_t> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_integer()) return std::nullopt;
    const bool is_too_large =
        found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{kMost32};
    return is_too_large ? std::nullopt : std::optional(found->get<std::int64_t>());
  };
  const auto field = json.find("field");
  const auto base = number("base");
  const auto value = number("value");
  if (field == json.end() || !base || !value) return std::nullopt;
  const bool is_boost = *field == "boost";
  if (!is_boost && *field != "priority") return std::nullopt;
  // Both have 32 bits, so their difference does not overflow.
  if (!has_32_bits(*base) || !has_32_bits(*value)) return std::nullopt;
  if (*value <= *base || *value - *base > kMostRank) return std::nullopt;
  if (is_boost && *base != 0) return std::nullopt;
  return Mark{.field = is_boost ? Field::boost : Field::priority, .base = *base, .value = *value};
}

}  // namespace almanac::kube
