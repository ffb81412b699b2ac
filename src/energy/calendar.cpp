// SPDX-License-Identifier: Apache-2.0
#include "energy/calendar.h"

#include <chrono>

#include <fmt/format.h>

#include "table/csv_reader.h"
#include "text/datetime.h"

namespace almanac::energy {
namespace {

std::int64_t day_of(Time at) {
  return std::chrono::floor<std::chrono::days>(at.time_since_epoch()).count();
}

}  // namespace

Result<Calendar> Calendar::read(const std::string& path) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  const auto date = csv->find("date");
  const auto kind = csv->find("day");
  if (!date || !kind) {
    return fail(Code::invalid, "expected the columns date and day", {.file = path},
                "write lines such as 2020-10-01,off or 2020-10-10,work");
  }
  Calendar calendar;
  while (true) {
    const Result<bool> more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return calendar;
    const auto at = text::parse_datetime((*csv)[*date]);
    const std::string_view word = (*csv)[*kind];
    if (!at || (word != "off" && word != "work")) {
      return fail(Code::invalid,
                  fmt::format("expected a date and off or work, found \"{}\" and \"{}\"",
                              (*csv)[*date], word),
                  csv->where());
    }
    calendar.off_[day_of(*at)] = word == "off";
  }
}

int Calendar::weekday(Time at) {
  const std::int64_t since_monday = day_of(at) + 3;  // the epoch was a Thursday
  return static_cast<int>((since_monday % 7 + 7) % 7);
}

bool Calendar::is_off(Time at) const {
  const auto found = off_.find(day_of(at));
  return found != off_.end() ? found->second : weekday(at) >= 5;
}

}  // namespace almanac::energy
