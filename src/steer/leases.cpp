// SPDX-License-Identifier: Apache-2.0
#include "steer/leases.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "steer/mark.h"

namespace almanac::steer {

Duration lease_for(std::size_t held, double changes_per_s) {
  constexpr Duration kShortest = 2min;
  constexpr Duration kLongest = 24h;
  // A lease is renewed at half its length as a rule.
  constexpr double kHalves = 2;
  constexpr double kShare = 1.0 / 8;
  const double lease_s = kHalves * static_cast<double>(held) / (kShare * changes_per_s);
  const Duration wanted = std::chrono::seconds(std::llround(std::min(lease_s, seconds(kLongest))));
  return std::max(kShortest, wanted);
}

std::size_t count_leases(const Mirror& mirror) {
  return static_cast<std::size_t>(std::count_if(
      mirror.jobs().begin(), mirror.jobs().end(),
      [&](const auto& each) { return waits(each.second) && is_leased(each.second, mirror.at()); }));
}

manager::JobChange held_until(manager::JobNumber job, Time end) {
  const Time whole{std::chrono::floor<std::chrono::seconds>(end.time_since_epoch())};
  return {.job = job, .begins = whole, .comment = manager::mark_until(whole)};
}

std::vector<manager::JobChange> renewals(const Mirror& mirror, Duration lease, std::size_t some,
                                         std::size_t most,
                                         const std::set<manager::JobNumber>& but) {
  const Time now = mirror.at();
  std::vector<std::pair<Time, manager::JobNumber>> due;
  for (const auto& [number, job] : mirror.jobs()) {
    if (!waits(job) || !is_leased(job, now) || but.contains(number)) continue;
    if (job.eligible - now < lease * 3 / 4) due.emplace_back(job.eligible, number);
  }
  std::sort(due.begin(), due.end());
  const auto urgent = static_cast<std::size_t>(
      std::lower_bound(due.begin(), due.end(), std::pair{now + lease / 4, manager::JobNumber{}}) -
      due.begin());
  due.resize(std::min({due.size(), most, std::max(urgent, some)}));
  std::vector<manager::JobChange> made;
  for (const auto& [end, job] : due) made.push_back(held_until(job, now + lease));
  return made;
}

}  // namespace almanac::steer
