// SPDX-License-Identifier: Apache-2.0
#include "text/time_zone.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace almanac::text {
namespace {

// Rules without an end are written out up to here.
constexpr int kLastYear = 2100;
constexpr std::size_t kHeaderSize = 44;

/// Reads big-endian numbers; once it runs out it stays failed.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number(std::size_t size) {
    if (rest_.size() < size) {
      failed_ = true;
      return 0;
    }
    std::uint64_t value = static_cast<unsigned char>(rest_.front()) >= 0x80 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<unsigned char>(rest_[i]);
    }
    rest_.remove_prefix(size);
    return static_cast<std::int64_t>(value);
  }
  void skip(std::int64_t size) {
    failed_ = failed_ || size < 0 || static_cast<std::size_t>(size) > rest_.size();
    rest_.remove_prefix(failed_ ? rest_.size() : static_cast<std::size_t>(size));
  }
  bool failed() const { return failed_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

struct Counts {
  std::int64_t is_utc = 0;
  std::int64_t is_standard = 0;
  std::int64_t leaps = 0;
  std::int64_t times = 0;
  std::int64_t types = 0;
  std::int64_t letters = 0;
};

std::optional<Counts> read_header(Bytes& bytes) {
  if (!bytes.rest().starts_with("TZif")) return std::nullopt;
  bytes.skip(kHeaderSize - 24);
  Counts counts;
  for (std::int64_t* const count : {&counts.is_utc, &counts.is_standard, &counts.leaps,
                                    &counts.times, &counts.types, &counts.letters}) {
    *count = bytes.number(4);
  }
  if (bytes.failed()) return std::nullopt;
  return counts;
}

/// Reads the zone's rule for all later years: "CET-1CEST,M3.5.0,M10.5.0/3".
class Rule {
 public:
  explicit Rule(std::string_view text) : rest_(text) {
    skip_name();
    standard_ = -length();
    if (rest_.empty()) return;
    skip_name();
    summer_ = rest_.empty() || rest_.front() == ',' ? standard_ + std::chrono::hours(1) : -length();
    has_summer_ = read_day(begin_) && read_day(end_);
  }

  Duration standard() const { return standard_; }
  bool has_summer() const { return has_summer_; }
  Duration summer() const { return summer_; }
  Time begin(int year) const { return moment(begin_, year, standard_); }
  Time end(int year) const { return moment(end_, year, summer_); }

 private:
  struct Day {
    unsigned month = 1;
    unsigned week = 1;
    unsigned weekday = 0;
    Duration time = std::chrono::hours(2);
  };

  char front() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool skip(char c) {
    if (front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_name() {
    if (skip('<')) {
      rest_.remove_prefix(std::min(rest_.find('>'), rest_.size()));
      skip('>');
      return;
    }
    while (std::isalpha(static_cast<unsigned char>(front())) != 0) rest_.remove_prefix(1);
  }
  int number() {
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  Duration length() {
    const bool negative = skip('-');
    if (!negative) skip('+');
    Duration made = std::chrono::hours(number());
    if (skip(':')) made += std::chrono::minutes(number());
    if (skip(':')) made += std::chrono::seconds(number());
    return negative ? -made : made;
  }
  bool read_day(Day& day) {
    if (!skip(',') || !skip('M')) return false;
    day.month = static_cast<unsigned>(number());
    skip('.');
    day.week = static_cast<unsigned>(number());
    skip('.');
    day.weekday = static_cast<unsigned>(number());
    if (skip('/')) day.time = length();
    return day.month >= 1 && day.month <= 12 && day.week >= 1 && day.week <= 5 && day.weekday <= 6;
  }
  static Time moment(const Day& day, int year, Duration offset) {
    using namespace std::chrono;
    const year_month in = std::chrono::year(year) / month(day.month);
    constexpr unsigned kLastWeek = 5;
    const sys_days date = day.week == kLastWeek ? sys_days(in / weekday(day.weekday)[last])
                                                : sys_days(in / weekday(day.weekday)[day.week]);
    return Time(Duration(date.time_since_epoch()) + day.time - offset);
  }

  std::string_view rest_;
  Duration standard_{};
  Duration summer_{};
  bool has_summer_ = false;
  Day begin_;
  Day end_;
};

/// "+05:30", "-0800", "+2".
std::optional<Duration> fixed_offset(std::string_view text) {
  if (text.size() < 2 || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  std::array<int, 2> parts{};
  std::string digits;
  for (const char c : text.substr(1)) {
    if (c != ':') digits += c;
  }
  if (digits.empty() || digits.size() > 4 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  const std::size_t hour_digits = digits.size() <= 2 ? digits.size() : digits.size() - 2;
  parts[0] = std::atoi(digits.substr(0, hour_digits).c_str());
  parts[1] = std::atoi(digits.substr(hour_digits).c_str());
  if (parts[0] > 15 || parts[1] > 59) return std::nullopt;
  const Duration made = std::chrono::hours(parts[0]) + std::chrono::minutes(parts[1]);
  return text.front() == '-' ? -made : made;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.front() != '/' && name.find("..") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '+';
         });
}

std::string read_zone_file(const std::string& name) {
  const char* const folder = std::getenv("TZDIR");
  std::ifstream file(fmt::format("{}/{}", folder != nullptr ? folder : "/usr/share/zoneinfo", name),
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Result<TimeZone> TimeZone::find(const std::string& name) {
  TimeZone zone;
  zone.name_ = name;
  if (const auto offset = fixed_offset(name)) {
    zone.changes_.push_back({Time::min(), *offset});
    return zone;
  }
  const auto unknown = [&] {
    return fail(Code::usage, fmt::format("there is no time zone \"{}\"", name), {},
                "names are those of the tz database, such as Europe/Berlin or America/New_York; "
                "an offset such as +05:30 is one too");
  };
  if (!is_name(name)) return unknown();
  const std::string content = read_zone_file(name);
  Bytes bytes(content);
  const auto narrow = read_header(bytes);
  if (!narrow) return unknown();
  bytes.skip(narrow->times * 5 + narrow->types * 6 + narrow->letters + narrow->leaps * 8 +
             narrow->is_standard + narrow->is_utc);
  const auto counts = read_header(bytes);
  if (!counts) return unknown();

  std::vector<Time> times;
  for (std::int64_t i = 0; i < counts->times && !bytes.failed(); ++i) {
    times.emplace_back(std::chrono::seconds(
        std::clamp<std::int64_t>(bytes.number(8), -100'000'000'000, 100'000'000'000)));
  }
  std::vector<std::int64_t> types;
  for (std::int64_t i = 0; i < counts->times && !bytes.failed(); ++i) {
    types.push_back(bytes.number(1) & 0xff);
  }
  std::vector<Duration> offsets;
  for (std::int64_t i = 0; i < counts->types && !bytes.failed(); ++i) {
    offsets.emplace_back(std::chrono::seconds(bytes.number(4)));
    bytes.skip(2);
  }
  bytes.skip(counts->letters + counts->leaps * 12 + counts->is_standard + counts->is_utc);
  const auto out_of_range = [&](std::int64_t type) {
    return static_cast<std::size_t>(type) >= offsets.size();
  };
  if (bytes.failed() || offsets.empty() || std::any_of(types.begin(), types.end(), out_of_range)) {
    return unknown();
  }
  zone.changes_.push_back({Time::min(), offsets.front()});
  for (std::size_t i = 0; i < times.size(); ++i) {
    zone.changes_.push_back({times[i], offsets[static_cast<std::size_t>(types[i])]});
  }

  std::string_view footer = bytes.rest();
  footer.remove_prefix(std::min<std::size_t>(1, footer.size()));
  const Rule rule(footer.substr(0, footer.find('\n')));
  if (rule.has_summer()) {
    const Time last = zone.changes_.back().at;
    std::vector<Change> later;
    for (int year = 1970; year <= kLastYear; ++year) {
      for (const Change& change :
           {Change{rule.begin(year), rule.summer()}, Change{rule.end(year), rule.standard()}}) {
        if (change.at > last) later.push_back(change);
      }
    }
    std::sort(later.begin(), later.end(),
              [](const Change& a, const Change& b) { return a.at < b.at; });
    zone.changes_.insert(zone.changes_.end(), later.begin(), later.end());
  }
  return zone;
}

Duration TimeZone::offset_at(Time moment) const {
  const auto after = std::upper_bound(changes_.begin() + 1, changes_.end(), moment,
                                      [](Time at, const Change& change) { return at < change.at; });
  return std::prev(after)->offset;
}

Moments TimeZone::moments_of(Time wall) const {
  // No clock is more than 15 hours from UTC, and none changes twice within a day.
  constexpr Duration kFar = std::chrono::hours(26);
  const Duration before = offset_at(wall - kFar);
  const Duration after = offset_at(wall + kFar);
  std::array<Time, 2> found{wall - std::max(before, after), wall - std::min(before, after)};
  const auto shows = [&](Time moment) { return moment + offset_at(moment) == wall; };
  if (shows(found[0]) && shows(found[1])) return {found[0], found[1]};
  for (const Time moment : found) {
    if (shows(moment)) return {moment, moment};
  }
  return {wall - before, wall - before};
}

}  // namespace almanac::text
