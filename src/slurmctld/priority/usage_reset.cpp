// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/usage_reset.h"

#include <chrono>

namespace almanac::slurmctld {

Time next_usage_reset(site::UsageReset period, Time last, const text::TimeZone& zone) {
  namespace chrono = std::chrono;
  const chrono::sys_days today{
      chrono::floor<chrono::days>(last.time_since_epoch() + zone.offset_at(last))};
  const chrono::year_month_day date{today};
  const auto month = [&](unsigned number) {
    return chrono::sys_days(date.year() / chrono::month(number) / 1);
  };
  const chrono::sys_days new_year((date.year() + chrono::years(1)) / chrono::January / 1);
  const unsigned now = static_cast<unsigned>(date.month());
  chrono::sys_days next;
  switch (period) {
    case site::UsageReset::none:
    case site::UsageReset::now:
      return kNever;
    case site::UsageReset::daily:
      next = today + chrono::days(1);
      break;
    case site::UsageReset::weekly:
      next = today + chrono::days(7 - chrono::weekday(today).c_encoding());
      break;
    case site::UsageReset::monthly:
      next = now == 12 ? new_year : month(now + 1);
      break;
    case site::UsageReset::quarterly:
      next = now >= 10 ? new_year : month((now - 1) / 3 * 3 + 4);
      break;
    case site::UsageReset::yearly:
      next = new_year;
      break;
  }
  return zone.moments_of(Time(next.time_since_epoch())).first;
}

}  // namespace almanac::slurmctld
