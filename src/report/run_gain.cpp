// SPDX-License-Identifier: Apache-2.0
#include "report/run_gain.h"

#include <cmath>
#include <span>
#include <vector>

#include "stats/bootstrap.h"
#include "stats/joined_days.h"

namespace almanac::report {

WaitsByDay waits_by_day(const RunInput& input, const sim::Schedule& schedule) {
  WaitsByDay days;
  if (input.trace().jobs.empty()) return days;
  const Time first = input.trace().jobs.front().request.submit;
  for (std::size_t at = 0; at < schedule.jobs.size(); ++at) {
    const sim::JobResult result = schedule.jobs[at];
    const trace::Request& request = input.trace().jobs[at].request;
    if (result.phase != policy::Phase::ended || request.submit < schedule.window.from) continue;
    DayWaits& day = days[(request.submit - first) / 24h];
    day.jobs += 1;
    day.wait_s += seconds(result.end - sim::joined(request, result) - result.ran);
  }
  return days;
}

std::optional<GainInterval> gain_interval(const WaitsByDay& before, const WaitsByDay& after) {
  constexpr std::size_t kTimes = 10'000;
  std::map<long long, stats::DaySum> days;
  for (const auto& [day, waits] : before) {
    days[day].jobs = waits.jobs;
    days[day].before = waits.wait_s;
  }
  for (const auto& [day, waits] : after) {
    if (days[day].jobs != waits.jobs) return std::nullopt;
    days[day].after = waits.wait_s;
  }
  if (before.size() != after.size()) return std::nullopt;
  const stats::JoinedDays joined = stats::join_days(days);
  if (!joined.tell) return std::nullopt;
  Rng rng(1);
  std::vector<double> draws;
  stats::bootstrap(joined.blocks.size(), kTimes, rng, [&](std::span<const std::uint32_t> times) {
    double before_s = 0;
    double after_s = 0;
    for (std::size_t at = 0; at < times.size(); ++at) {
      before_s += times[at] * joined.blocks[at].before;
      after_s += times[at] * joined.blocks[at].after;
    }
    draws.push_back(1 - after_s / before_s);
  });
  const auto [from, to] = stats::middle_95(draws);
  if (!std::isfinite(from) || !std::isfinite(to)) return std::nullopt;
  return GainInterval{.from = from, .to = to};
}

}  // namespace almanac::report
