// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/shortest_first.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::timeshare {
namespace {

using Line = std::vector<Turn>;

TEST(ShortestFirst, OrdersByServiceLeftOnOneType) {
  const Problem problem{.gpus = {4},
                        .jobs = {{.rates = {1}, .gpus = 4, .steps_left = 100},
                                 {.rates = {1}, .gpus = 1, .steps_left = 300},
                                 {.rates = {2}, .gpus = 1, .steps_left = 500},
                                 {.rates = {1}, .gpus = 1, .weight = 4, .steps_left = 800}}};
  EXPECT_EQ(shortest_first(problem), (Line{{3, 0}, {2, 0}, {1, 0}, {0, 0}}));
}

// Job 0 gains most from the fast type, though job 1 is shorter: 3 / 300 + 0.9 / 200 are more than
// 1 / 300 + 1 / 200.
TEST(ShortestFirst, LeavesTheFastTypeToWhatGainsByIt) {
  const Problem problem{.gpus = {1, 1},
                        .jobs = {{.rates = {1, 3}, .steps_left = 300},
                                 {.rates = {0.9, 1}, .steps_left = 200},
                                 {.rates = {1, 1}, .steps_left = 9'000}}};
  const Line line = shortest_first(problem);
  ASSERT_EQ(line.size(), 3U);
  EXPECT_EQ(std::count(line.begin(), line.begin() + 2, Turn{0, 1}), 1);
  EXPECT_EQ(std::count(line.begin(), line.begin() + 2, Turn{1, 0}), 1);
  EXPECT_EQ(line.back().job, 2U);
}

TEST(ShortestFirst, KnowsNoJobsAndJobsThatRunNowhere) {
  EXPECT_TRUE(shortest_first({.gpus = {1, 1}, .jobs = {}}).empty());
  EXPECT_EQ(shortest_first({.gpus = {1, 1}, .jobs = {{.rates = {0, 0}, .steps_left = 1}}}).size(),
            1U);
}

double value(const Problem& problem, std::size_t job, std::size_t type) {
  return problem.jobs[job].rates[type] / problem.jobs[job].steps_left;
}

/// The most that jobs from `job` on can be worth.
double best(const Problem& problem, std::size_t job, std::vector<double>& left) {
  if (job == problem.jobs.size()) return 0;
  double most = best(problem, job + 1, left);
  for (std::size_t type = 0; type < left.size(); ++type) {
    if (left[type] < 1) continue;
    left[type] -= 1;
    most = std::max(most, value(problem, job, type) + best(problem, job + 1, left));
    left[type] += 1;
  }
  return most;
}

RC_GTEST_PROP(ShortestFirst, IsWorthAsMuchAsTheBestOfAllWaysForJobsOfOneGpu, ()) {
  const int types = *rc::gen::inRange(1, 4);
  Problem problem;
  for (int type = 0; type < types; ++type) problem.gpus.push_back(*rc::gen::inRange(0, 3));
  for (int job = *rc::gen::inRange(0, 7); job > 0; --job) {
    Job& made = problem.jobs.emplace_back(
        Job{.steps_left = static_cast<double>(*rc::gen::inRange(1, 1'000))});
    for (int type = 0; type < types; ++type) made.rates.push_back(*rc::gen::inRange(1, 20));
  }
  std::vector<double> left = problem.gpus;
  double worth = 0;
  const Line line = shortest_first(problem);
  RC_ASSERT(line.size() == problem.jobs.size());
  for (const auto [job, type] : line) {
    if (left[type] < 1) continue;
    left[type] -= 1;
    worth += value(problem, job, type);
  }
  left = problem.gpus;
  const double most = best(problem, 0, left);
  RC_ASSERT(worth >= most * (1 - 1e-6));
}

}  // namespace
}  // namespace almanac::timeshare
