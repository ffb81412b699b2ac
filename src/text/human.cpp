// SPDX-License-Identifier: Apache-2.0
#include "text/human.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace almanac::text {

std::string human_time(double duration_s) {
  if (!std::isfinite(duration_s)) return "-";
  if (duration_s < 10) return fmt::format("{:.1f}s", duration_s);
  const auto whole = static_cast<std::int64_t>(std::llround(duration_s));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {:02}h", whole / 86400, whole / 3600 % 24);
}

std::string grouped(std::int64_t value) {
  const std::string digits = std::to_string(std::abs(value));
  std::string text = value < 0 ? "-" : "";
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

std::string counted(std::uint64_t value, const std::string& one, const std::string& many) {
  const std::string word = value == 1 ? one : many.empty() ? one + "s" : many;
  return grouped(static_cast<std::int64_t>(value)) + " " + word;
}

std::string human_share(double share) {
  if (!std::isfinite(share)) return "-";
  const double percent = 100 * share;
  const double size = std::abs(percent);
  // Two digits that mean something; 100 % only when it is all.
  if (size >= 99.5 && size < 100) return fmt::format("{:.1f} %", std::min(percent, 99.9));
  if (size >= 10 || size == 0) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:.{}f} %", percent, size >= 1 ? 1 : 2);
}

}  // namespace almanac::text
