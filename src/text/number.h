// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses numbers as tables contain them: the whole text must be a number; no locale, no blanks.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace almanac::text {

/// Parses a whole number, optionally with a sign. "8.0" is 8 too: tools that have missing values
/// print whole numbers so.
inline std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  if (rest == end) return value;
  const std::string_view tail(rest, static_cast<std::size_t>(end - rest));
  if (tail.front() != '.' || tail.find_first_not_of('0', 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return value;
}

/// Parses a finite decimal number: "-1.5", "2e3".
inline std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Parses a decimal number and returns 1000 x unit times it, rounded half away from zero: "1.5"
/// gives 1500 with unit 1. Returns nothing for other text, and for more than 64 bits hold. Exact
/// for up to three decimals.
std::optional<std::int64_t> parse_thousandths(std::string_view text, std::int64_t unit = 1);

}  // namespace almanac::text
