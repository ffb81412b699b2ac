// SPDX-License-Identifier: Apache-2.0
#include "rules/interleave/stages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace almanac::interleave {

double period_of(const Order& order, std::span<const Stages> jobs) {
  const auto at = [&](std::size_t place) -> const Stages* {
    const int job = order[place % kMaxGroup];
    return job < 0 ? nullptr : &jobs[static_cast<std::size_t>(job)];
  };
  std::array<double, 9> start{};
  for (std::size_t slot = 0; slot < 8; ++slot) {
    double next = 0;
    bool any = false;
    const auto wait = [&](double until) {
      next = any ? std::max(next, until) : until;
      any = true;
    };
    if (const Stages* job = at(slot + 1)) wait(start[slot] + job->network);
    if (const Stages* job = at(slot + 2)) wait(start[slot] + job->compute);
    if (const Stages* job = at(slot + 3); job != nullptr && slot > 0) {
      wait(start[slot - 1] + job->load);
    }
    start[slot + 1] = any ? next : start[slot];
    if (slot < 4) continue;
    const double cycle = start[slot + 1] - start[slot - 3];
    const double before = start[slot] - start[slot - 4];
    if (std::abs(cycle - before) <= 1e-3 * std::max(std::abs(cycle), std::abs(before)))
      return cycle;
  }
  return start[8] - start[4];
}

double opposite_period(const Stages& one, const Stages& other) {
  return std::max(one.load, other.compute + other.network) +
         std::max(other.load, one.compute + one.network);
}

Period period(std::span<const Stages> jobs) {
  ALMANAC_CHECK(!jobs.empty() && jobs.size() <= kMaxGroup, "a group of {} jobs", jobs.size());
  Order order;
  for (std::size_t place = 0; place < kMaxGroup; ++place) {
    order[place] = place < jobs.size() ? static_cast<int>(place) : -1;
  }
  std::sort(order.begin(), order.end());
  Period period{std::numeric_limits<double>::infinity(), 0};
  do {
    const double each = period_of(order, jobs);
    period.best = std::min(period.best, each);
    period.worst = std::max(period.worst, each);
  } while (std::next_permutation(order.begin(), order.end()));
  if (jobs.size() == 2) period.best = std::min(period.best, opposite_period(jobs[0], jobs[1]));
  return period;
}

double group_iteration_s(double period, std::size_t jobs) {
  constexpr std::array kStretch{1.33, 1.5, 1.37};
  return period * kStretch.at(jobs - 2) / 1.015;
}

double used_ratio(std::span<const Stages> jobs, double iteration_s) {
  double sum = 0;
  for (const Stages& job : jobs) sum += job.sum();
  return sum / (iteration_s * 4);
}

}  // namespace almanac::interleave
