// SPDX-License-Identifier: Apache-2.0
#include "text/duration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "text/number.h"

namespace almanac::text {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits{{
    {"ms", 1},
    {"s", 1000},
    {"m", 60'000},
    {"h", 3'600'000},
    {"d", 86'400'000},
    {"w", 604'800'000},
}};

std::optional<Duration> parse_with_unit(std::string_view text) {
  const auto digits = text.find_last_of("0123456789.") + 1;  // 0 when there are none
  for (const auto& [name, milliseconds] : kUnits) {
    if (text.substr(digits) != name) continue;
    // A thousandth of a millisecond is too fine to keep, so a thousand of them make the unit.
    const auto value = parse_thousandths(text.substr(0, digits), milliseconds);
    if (!value || *value < 0) return std::nullopt;
    return Duration((*value + 500) / 1000);
  }
  return std::nullopt;
}

std::optional<int> parse_part(std::string_view text, std::int64_t limit) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto value = parse_whole(text);
  if (!value || *value > limit) return std::nullopt;
  return static_cast<int>(*value);
}

/// "1 day, 6:00:00", "2 days 06:00:00": days, then hours, minutes and seconds.
std::optional<Duration> parse_days(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto count = parse_part(text.substr(0, blank), 1'000'000);
  text.remove_prefix(blank + 1);
  for (const std::string_view word : {"days,", "day,", "days", "day"}) {
    if (!count || !text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    if (text.empty() && !word.ends_with(',')) return days(*count);
    if (!text.starts_with(' ') || std::count(text.begin(), text.end(), ':') != 2)
      return std::nullopt;
    const auto clock = parse_duration(text.substr(1));
    if (!clock) return std::nullopt;
    return *clock + days(*count);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  if (auto length = parse_days(text)) return length;
  if (text == "UNLIMITED" || text == "INFINITE") return kUnlimited;
  if (text == "0") return Duration::zero();
  Duration result{};
  const auto dash = text.find('-');
  const auto colon = text.find(':');
  if (dash == std::string_view::npos && colon == std::string_view::npos) {
    return parse_with_unit(text);
  }
  std::string_view clock = text;
  if (dash != std::string_view::npos) {
    const auto count = parse_part(text.substr(0, dash), 1'000'000);
    if (!count) return std::nullopt;
    result += days(*count);
    clock.remove_prefix(dash + 1);
  }
  if (const auto dot = clock.find('.'); dot != std::string_view::npos) {
    const auto fraction = parse_thousandths(fmt::format("0{}", clock.substr(dot)));
    if (!fraction) return std::nullopt;
    result += Duration(*fraction);
    clock = clock.substr(0, dot);
  }
  std::array<int, 3> parts{};
  std::size_t count = 0;
  for (std::string_view rest = clock;;) {
    const auto at = rest.find(':');
    const auto part = parse_part(rest.substr(0, at), 1'000'000);
    if (!part || count == parts.size()) return std::nullopt;
    parts[count++] = *part;
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at + 1);
  }
  // After days the parts start with hours; else the last one is seconds.
  if (dash == std::string_view::npos && count == 2) parts = {0, parts[0], parts[1]};
  return result + hours(parts[0]) + minutes(parts[1]) + std::chrono::seconds(parts[2]);
}

std::string format_duration(Duration duration) {
  if (duration == kUnlimited) return "UNLIMITED";
  const std::string_view sign = duration < Duration::zero() ? "-" : "";
  const Duration length = std::chrono::abs(duration);
  const auto whole_days = std::chrono::duration_cast<days>(length);
  const std::chrono::hh_mm_ss clock(length - whole_days);
  std::string text(sign);
  if (whole_days.count() > 0) text += fmt::format("{}-", whole_days.count());
  text += fmt::format("{:02}:{:02}:{:02}", clock.hours().count(), clock.minutes().count(),
                      clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:03}", clock.subseconds().count());
  return text;
}

}  // namespace almanac::text
