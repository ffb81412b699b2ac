// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses times of day and dates as `sbatch --begin` does.
#include <array>
#include <ctime>
#include <utility>

#include "submission/argument.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::submission {
namespace {

using std::chrono::days;

/// So far ahead that no sum of it with a date overflows: a hundred years.
constexpr Duration kFarthest = days(36'525);

std::time_t whole_seconds(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch() / 1s;
}

std::tm local(Time time) {
  const std::time_t seconds = whole_seconds(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return parts;
}

std::tm utc(Time time) {
  const std::time_t seconds = whole_seconds(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return parts;
}

Time from_local(std::tm parts) {
  parts.tm_isdst = -1;
  return Time(std::chrono::seconds(std::mktime(&parts)));
}

/// Returns this time of day: today or, if it is over, tomorrow.
Time next(Duration of_day, Time now) {
  std::tm parts = local(now);
  parts.tm_hour = static_cast<int>(of_day / 1h);
  parts.tm_min = static_cast<int>(of_day % 1h / 1min);
  parts.tm_sec = static_cast<int>(of_day % 1min / 1s);
  const Time today = from_local(parts);
  if (today > now) return today;
  ++parts.tm_mday;
  return from_local(parts);
}

/// "2hours", "2h", "30", "3days" of "now+..."; a bare number is seconds.
std::optional<Duration> read_count_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Duration>, 5> kUnits{
      {{"seconds", 1s}, {"minutes", 1min}, {"hours", 1h}, {"days", days(1)}, {"weeks", days(7)}}};
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = text::parse_whole(text.substr(0, end));
  const std::string_view word = text.substr(end);
  for (const auto& [name, unit] : kUnits) {
    const bool is_short = word.size() == 1 || word.size() + 1 == name.size();  // "h", "hour"
    const bool is_it = word == name || word.empty() || (is_short && name.starts_with(word));
    if (!is_it) continue;
    if (!count || *count < 0 || *count > kFarthest / unit) return std::nullopt;
    return *count * unit;
  }
  return std::nullopt;
}

/// "16:00", "16:00:30", "4:00".
std::optional<Duration> read_time_of_day(std::string_view text) {
  Duration length{};
  Duration unit = 1h;
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  for (const std::string_view part : parts) {
    const auto value = text::parse_whole(part);
    if (part.empty() || part.size() > 2 || !value || *value < 0) return std::nullopt;
    if (*value >= (unit == 1h ? 24 : 60)) return std::nullopt;
    length += *value * unit;
    unit /= 60;
  }
  return length;
}

}  // namespace

Result<Time> read_moment(std::string_view text, Time now) {
  constexpr std::array<std::pair<std::string_view, Duration>, 4> kWords{
      {{"midnight", 0h}, {"noon", 12h}, {"fika", 15h}, {"teatime", 16h}}};
  if (text == "now" || text == "today") return now;
  if (text == "tomorrow") return next(0h, now);
  for (const auto& [word, of_day] : kWords) {
    if (text == word) return next(of_day, now);
  }
  if (text.starts_with("now+")) {
    if (const auto ahead = read_count_of(text.substr(4))) return now + *ahead;
  } else if (const auto of_day = read_time_of_day(text)) {
    return next(*of_day, now);
  } else if (const auto date = text::parse_datetime(text)) {
    // Without a zone it is what a clock on the wall here shows.
    return text::has_zone(text) ? *date : from_local(utc(*date));
  }
  return fail(Code::invalid, "a time, such as 16:00, now+2hours, tomorrow or 2026-11-22T08:00");
}

}  // namespace almanac::submission
