// SPDX-License-Identifier: Apache-2.0
#include "trace/swf_start.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "text/datetime.h"
#include "text/number.h"

namespace almanac::trace {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"Sun", "Mon", "Tue", "Wed",
                                                    "Thu", "Fri", "Sat"};

/// The parts of a date that its words have given so far; 0 and "" = not given.
struct Words {
  std::size_t month = 0;  // 1 to 12
  std::int64_t day = 0;
  std::int64_t year = 0;
  std::string_view clock{};
  std::string_view zone{};

  /// Whether `word` says something that no word before it said.
  bool take(std::string_view word) {
    const std::string_view name = word.substr(0, 3);
    if (std::find(kWeekdays.begin(), kWeekdays.end(), name) != kWeekdays.end()) return true;
    const auto named = std::find(kMonths.begin(), kMonths.end(), name);
    if (month == 0 && named != kMonths.end()) {
      month = static_cast<std::size_t>(named - kMonths.begin()) + 1;
      return true;
    }
    const bool is_digits = word.find_first_not_of("0123456789") == std::string_view::npos;
    if (const auto number = text::parse_whole(word); number && is_digits) {
      constexpr std::size_t kYearDigits = 4;
      std::int64_t& part = word.size() == kYearDigits ? year : day;
      if (part != 0) return false;
      part = *number;
      return true;
    }
    std::string_view& part = word.find(':') == 2 ? clock : zone;
    if (!part.empty()) return false;
    part = word;
    return true;
  }
};

/// "Z" or "+02:00" for a zone that means one offset; "" = it may mean several.
std::string offset_of(std::string_view zone) {
  if (zone == "UTC" || zone == "GMT" || zone == "Z") return "Z";
  return zone.starts_with('+') || zone.starts_with('-') ? std::string(zone) : std::string();
}

}  // namespace

std::optional<SwfStart> parse_swf_start(std::string_view text) {
  if (const auto time = text::parse_datetime(text)) return SwfStart{*time, text::has_zone(text)};
  Words words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty() && !words.take(word)) return std::nullopt;
  }
  const std::string offset = offset_of(words.zone);
  const auto time = text::parse_datetime(fmt::format("{:04}-{:02}-{:02} {}{}", words.year,
                                                     words.month, words.day, words.clock, offset));
  if (!time) return std::nullopt;
  return SwfStart{*time, !offset.empty()};
}

}  // namespace almanac::trace
