// SPDX-License-Identifier: Apache-2.0
#include "text/datetime.h"

#include <chrono>

#include <fmt/format.h>

namespace almanac::text {
namespace {

/// Takes characters off the front of a text; once it fails it stays failed.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Exactly `digits` digits.
  int number(int digits) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      const char c = peek();
      if (c < '0' || c > '9') {
        failed_ = true;
        return 0;
      }
      value = value * 10 + (c - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  bool skip(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) { failed_ |= !skip(c); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool done() const { return text_.empty(); }
  bool failed() const { return failed_; }

 private:
  std::string_view text_;
  bool failed_ = false;
};

Duration time_of_day(Scanner& scan) {
  const int hours = scan.number(2);
  scan.expect(':');
  const int minutes = scan.number(2);
  const bool has_seconds = scan.skip(':');
  const int secs = has_seconds ? scan.number(2) : 0;
  if (hours > 23 || minutes > 59 || secs > 60) scan.expect('\1');  // 60: a leap second
  Duration result =
      std::chrono::hours(hours) + std::chrono::minutes(minutes) + std::chrono::seconds(secs);
  if (has_seconds && scan.skip('.')) {
    int place = 100;
    do {
      result += Duration(place * scan.number(1));
      place /= 10;  // digits past the third are cut off
    } while (scan.peek() >= '0' && scan.peek() <= '9');
  }
  if (scan.skip('Z')) return result;
  const char sign = scan.peek();
  if (sign != '+' && sign != '-') return result;
  scan.expect(sign);
  Duration offset = std::chrono::hours(scan.number(2));
  scan.skip(':');
  offset += std::chrono::minutes(scan.number(2));
  return sign == '+' ? result - offset : result + offset;
}

}  // namespace

std::optional<Time> parse_datetime(std::string_view text) {
  using namespace std::chrono;
  Scanner scan(text);
  const int y = scan.number(4);
  scan.expect('-');
  const int m = scan.number(2);
  scan.expect('-');
  const int d = scan.number(2);
  if (scan.failed()) return std::nullopt;
  const year_month_day date(year(y), month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d)));
  if (!date.ok()) return std::nullopt;
  Duration since_epoch = sys_days(date).time_since_epoch();
  if (!scan.done()) {
    if (!scan.skip(' ')) scan.expect('T');
    since_epoch += time_of_day(scan);
  }
  if (scan.failed() || !scan.done()) return std::nullopt;
  return Time(since_epoch);
}

bool has_zone(std::string_view text) {
  constexpr std::size_t kDate = std::string_view("YYYY-MM-DD").size();
  return text.size() > kDate &&
         (text.ends_with('Z') || text.find_first_of("+-", kDate) != std::string_view::npos);
}

std::string format_datetime(Time time) {
  using namespace std::chrono;
  const auto day_start = floor<days>(time.time_since_epoch());
  const year_month_day date{sys_days(day_start)};
  const hh_mm_ss clock(time.time_since_epoch() - day_start);
  std::string text =
      fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:03}", clock.subseconds().count());
  return text;
}

}  // namespace almanac::text
