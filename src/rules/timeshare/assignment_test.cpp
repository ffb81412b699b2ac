// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/assignment.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::timeshare {
namespace {

/// The least sum over all orders of jobs and all ways to hand the order out to GPUs.
double brute_force(const std::vector<Job>& jobs, const std::vector<int>& free) {
  std::vector<std::size_t> type_of;
  for (std::size_t type = 0; type < free.size(); ++type) {
    type_of.insert(type_of.end(), static_cast<std::size_t>(free[type]), type);
  }
  std::vector<std::size_t> gpu(jobs.size(), 0);
  double best = 1e300;
  for (;;) {
    double sum = 0;
    for (std::size_t each = 0; each < type_of.size(); ++each) {
      // On one GPU the shortest first is best.
      std::vector<double> times;
      for (std::size_t job = 0; job < jobs.size(); ++job) {
        if (gpu[job] == each)
          times.push_back(jobs[job].steps_left / jobs[job].rates[type_of[each]]);
      }
      std::sort(times.begin(), times.end());
      double end = 0;
      for (const double time : times) sum += end += time;
    }
    best = std::min(best, sum);
    std::size_t job = 0;
    while (job < gpu.size() && ++gpu[job] == type_of.size()) gpu[job++] = 0;
    if (job == gpu.size()) return best;
  }
}

RC_GTEST_PROP(LeastSumOfTimes, IsAsGoodAsAnyOrder, ()) {
  const std::vector<int> free{*rc::gen::inRange(0, 3), *rc::gen::inRange(1, 3)};
  std::vector<Job> jobs(static_cast<std::size_t>(*rc::gen::inRange(1, 6)));
  for (Job& job : jobs) {
    job.rates = {*rc::gen::inRange(1, 9) / 2.0, *rc::gen::inRange(1, 9) / 2.0};
    job.steps_left = *rc::gen::inRange(1, 50);
  }
  const Line line = least_sum_of_times(jobs, free);
  const double best = brute_force(jobs, free);
  RC_ASSERT(std::fabs(line.sum_of_times_s - best) <= 1e-9 * best);
  const auto started = [&](std::size_t type) {
    return std::count(line.starts.begin(), line.starts.end(), std::optional(type));
  };
  RC_ASSERT(started(0) <= free[0] && started(1) <= free[1]);
}

TEST(Allox, LeavesJobsWhereTheyRun) {
  const Problem problem{.gpus = {1, 1},
                        .jobs = {{.rates = {1, 4}, .steps_left = 8, .age_s = 9},
                                 {.rates = {1, 2}, .steps_left = 8, .age_s = 5}}};
  EXPECT_EQ(allox(problem, {{0, 0}, {0, 0}}, 1), (Fractions{{0, 1}, {0, 0}}));
  EXPECT_EQ(allox(problem, {{1, 0}, {0, 0}}, 1), (Fractions{{1, 0}, {0, 1}}));
}

// One GPU is free and a fifth of four jobs is less than one: the oldest one is considered.
TEST(Allox, ConsidersTheOldest) {
  Problem problem{.gpus = {1}, .jobs = {}};
  for (const double age : {1, 3, 2}) {
    problem.jobs.push_back({.rates = {1}, .steps_left = 10 + age, .age_s = age});
  }
  EXPECT_EQ(allox(problem, Fractions(3, {0}), 0.2), (Fractions{{0}, {1}, {0}}));
  EXPECT_EQ(allox(problem, Fractions(3, {0}), 1), (Fractions{{1}, {0}, {0}}));
}

}  // namespace
}  // namespace almanac::timeshare
