// SPDX-License-Identifier: Apache-2.0
#include "service/changed_forecasts.h"

namespace almanac::service {

ChangedForecasts changed_forecasts(std::span<const forecast::Shift> shifts, Time at,
                                   const std::function<ChangedForecast(JobId)>& describe) {
  ChangedForecasts made{.at = at};
  for (const forecast::Shift& each : shifts) {
    if (!each.runs) ++made.waiting;
    const Time start_before = within_a_year(each.before.start_by, at);
    const Time start_after = within_a_year(each.after.start_by, at);
    const Time end_before = within_a_year(each.before.end_by, at);
    const Time end_after = within_a_year(each.after.end_by, at);
    if (start_before == start_after && end_before == end_after) continue;
    ChangedForecast& one = made.jobs.emplace_back(describe(each.job));
    one.runs = each.runs;
    one.cancelled = each.cancelled;
    one.start_before = start_before;
    one.start_after = start_after;
    one.end_before = end_before;
    one.end_after = end_after;
  }
  return made;
}

}  // namespace almanac::service
