// SPDX-License-Identifier: Apache-2.0
#include "gavel/shockwave.h"

#include <gtest/gtest.h>

namespace almanac::gavel {
namespace {

// 100 samples: an epoch has 10 steps at batch 10 (kind 0), 5 at batch 20 (kind 1).
std::unique_ptr<Rule> two_jobs() {
  return make_shockwave({{0, {100, {10, 10, 20, 20, 20, 20}, {100, 100, 50, 50, 50, 50}}},
                         {1, {100, {10, 10, 10}, {100, 100, 100}}}},
                        {{0, 10}, {1, 20}}, {.rounds = 20, .round_s = 120});
}

State state(double now_s, std::vector<double> steps_done) {
  State made{.now_s = now_s, .numbers = {0, 1}, .kinds = {0, 0}};
  made.steps_done = std::move(steps_done);
  made.run_s = {0, 0};
  made.profiled_s = {400, 300};
  made.problem.gpus = {1};
  made.problem.jobs = {{.rates = {0.1}, .age_s = now_s}, {.rates = {0.1}, .age_s = now_s}};
  return made;
}

bool is_first(Rule& rule, const State& state, std::size_t job) {
  const auto parts = rule.allocate(state).alone;
  return parts[job][0] > parts[1 - job][0];
}

TEST(Shockwave, RunsTheShorterOfAPlanFirst) {
  EXPECT_TRUE(is_first(*two_jobs(), state(0, {0, 0}), 1));
}

// After four epochs at the larger batch two are believed to come, of 50 s each; job 1 has three of
// 100 s.
TEST(Shockwave, BelievesByTheEpochsThatItHasSeen) {
  const auto rule = two_jobs();
  State seen = state(0, {20, 0});
  seen.kinds[0] = 1;
  EXPECT_TRUE(is_first(*rule, seen, 0));
}

TEST(Shockwave, KeepsAPlanForEightRounds) {
  const auto rule = two_jobs();
  ASSERT_TRUE(is_first(*rule, state(0, {0, 0}), 1));
  // The plan has job 1 in its first two rounds, then job 0, whatever they have done since.
  EXPECT_TRUE(is_first(*rule, state(120, {0, 0}), 1));
  for (int round = 2; round < 5; ++round) EXPECT_TRUE(is_first(*rule, state(240, {0, 0}), 0));
  for (int round = 5; round < 8; ++round) rule->allocate(state(240, {0, 0}));
  EXPECT_TRUE(is_first(*rule, state(240, {0, 0}), 1));
}

}  // namespace
}  // namespace almanac::gavel
