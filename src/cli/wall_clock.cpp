// SPDX-License-Identifier: Apache-2.0
#include "cli/wall_clock.h"

#include <chrono>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "text/datetime.h"
#include "text/duration.h"

namespace almanac::cli {
namespace {

std::tm here(Time at) {
  const auto whole = static_cast<std::time_t>(
      std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
  std::tm parts{};
  ::localtime_r(&whole, &parts);
  return parts;
}

Time from_here(std::tm parts) {
  parts.tm_isdst = -1;
  return Time(std::chrono::seconds(::mktime(&parts)));
}

/// What reads as UTC, as the same digits of a clock here.
Time as_here(Time utc) {
  const auto whole = static_cast<std::time_t>(utc.time_since_epoch().count() / 1000);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  return from_here(parts);
}

std::optional<Time> parse_date(const std::string& text) {
  const auto read = text::parse_datetime(text);
  if (!read) return std::nullopt;
  return text::has_zone(text) ? *read : as_here(*read);
}

}  // namespace

std::string clock_text(Time at, Time now) {
  if (at == kNoTime) return "";
  const std::tm then = here(at);
  const std::tm today = here(now);
  const bool is_today = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
  return is_today ? fmt::format("{:%H:%M:%S}", then) : fmt::format("{:%Y-%m-%d %H:%M}", then);
}

Result<Time> parse_since(const std::string& option, const std::string& text, Time now) {
  if (const auto ago = text::parse_duration(text); ago && *ago != text::kUnlimited) {
    return now - *ago;
  }
  if (const auto date = parse_date(text)) return *date;
  return fail(
      Code::usage,
      fmt::format("{} must be a time such as 7d, 12h or 2026-11-22, found \"{}\"", option, text));
}

}  // namespace almanac::cli
