// SPDX-License-Identifier: Apache-2.0
#include "text/number.h"

namespace almanac::text {
namespace {

// Beyond this a time is surely a mistake, and sums of two still fit.
constexpr double kLimit = 4e18;

}  // namespace

std::optional<std::int64_t> parse_thousandths(std::string_view text, std::int64_t unit) {
  const bool negative = !text.empty() && text.front() == '-';
  std::string_view digits = text.substr(negative ? 1 : 0);
  std::int64_t value = 0;
  std::size_t at = 0;
  const auto is_digit = [&](std::size_t i) {
    return i < digits.size() && digits[i] >= '0' && digits[i] <= '9';
  };
  // The common spelling, up to 12 digits and 3 decimals, is done in whole numbers.
  while (at < 12 && is_digit(at)) value = value * 10 + (digits[at++] - '0');
  if (at > 0) {
    value *= 1000;
    std::size_t rest = at;
    if (rest < digits.size() && digits[rest] == '.') {
      ++rest;
      for (std::int64_t place = 100; place > 0 && is_digit(rest); place /= 10) {
        value += place * (digits[rest++] - '0');
      }
    }
    if (rest == digits.size() && value <= INT64_MAX / 4 / unit) {
      return (negative ? -value : value) * unit;
    }
  }
  const auto number = parse_decimal(text);
  if (!number) return std::nullopt;
  const double scaled = *number * 1000 * static_cast<double>(unit);
  if (std::abs(scaled) > kLimit) return std::nullopt;
  return std::llround(scaled);
}

}  // namespace almanac::text
