// SPDX-License-Identifier: Apache-2.0
#include "gavel/engine.h"

#include <gtest/gtest.h>

#include "gavel/rules.h"

namespace almanac::gavel {
namespace {

std::vector<double> jcts(std::string_view policy, const std::vector<Job>& jobs, int gpus) {
  const auto rule = make_rule(policy, {});
  const Course course =
      play({.types = {"v100"}, .gpus = {gpus}}, {.alone = {{1.0}, {0.998046875}}}, jobs, *rule, {});
  std::vector<double> all;
  for (const Ended& job : course.ended) all.push_back(job.jct_s);
  return all;
}

TEST(Engine, LetsJobsTakeTurns) {
  EXPECT_EQ(jcts("isolated", {{.number = 0, .steps = 720}, {.number = 1, .steps = 360}}, 1),
            (std::vector<double>{1080, 720}));
}

// 0.998046875 steps per second are 359 whole steps a round of 360 s, which take 359.7 s.
TEST(Engine, RunsWholeStepsARound) {
  const double round_s = 359 / 0.998046875;
  EXPECT_EQ(jcts("isolated", {{.number = 0, .kind = 1, .steps = 359}}, 1),
            (std::vector<double>{round_s}));
  EXPECT_EQ(
      jcts("isolated", {{.number = 0, .steps = 720}, {.number = 1, .kind = 1, .steps = 359}}, 1),
      (std::vector<double>{720 + round_s, 360 + round_s}));
}

// The second ends after the first round, and nothing stands in the way of the first one then.
TEST(FairSrtf, RunsTheShortestFirst) {
  EXPECT_EQ(jcts("fair_srtf", {{.number = 0, .steps = 720}, {.number = 1, .steps = 360}}, 1),
            (std::vector<double>{1080, 360}));
}

// Both run at three quarters of their rates side by side: together more than one and a half of them
// alone, and 360 steps take 480 s; at half their rates the second waits.
TEST(FifoPacked, PutsTheNextBesideAJobWhereTogetherTheyDoMore) {
  const auto ends = [](double beside) {
    const Speeds speeds{.alone = {{1.0}},
                        .beside = [beside](std::size_t, std::size_t, std::size_t) {
                          return std::array{beside, beside};
                        }};
    const std::vector<Job> jobs{{.number = 0, .steps = 270}, {.number = 1, .steps = 270}};
    const auto rule = make_rule("fifo_packed", {.speeds = &speeds});
    std::vector<double> jct_s;
    for (const Ended& job : play({.types = {"v100"}, .gpus = {1}}, speeds, jobs, *rule, {}).ended) {
      jct_s.push_back(job.jct_s);
    }
    return jct_s;
  };
  EXPECT_EQ(ends(0.76).front(), ends(0.76).back());
  EXPECT_EQ(ends(0.75), (std::vector<double>{270, 540}));
}

// Two jobs of a model on one GPU of one type, which beside each other run at 0.9 of their rates.
TEST(MaxMinPacked, ShareAllTheTime) {
  const Speeds speeds{.alone = {{1.0}}, .beside = [](std::size_t, std::size_t, std::size_t) {
                        return std::array{0.9, 0.9};
                      }};
  State state{.numbers = {4, 7}, .kinds = {0, 0}};
  state.problem = {.gpus = {1}, .jobs = {{.rates = {1.0}}, {.rates = {1.0}}}};
  const Allocation made =
      make_rule("max_min_fairness_packed", {.speeds = &speeds})->allocate(state);
  ASSERT_EQ(made.pairs.size(), 1U);
  EXPECT_NEAR(made.pairs[0].row[0], 1, 1e-6);
  EXPECT_NEAR(made.alone[0][0], 0, 1e-6);
}

// Three jobs and two GPUs: a pair and one alone, each with all of one GPU; with a third GPU no
// pair.
TEST(GandivaPacked, PairsWhereThereAreNotEnoughGpus) {
  const Speeds speeds{.alone = {{1.0}}, .beside = [](std::size_t, std::size_t, std::size_t) {
                        return std::array{0.6, 0.6};
                      }};
  State state{.numbers = {0, 1, 2}, .kinds = {0, 0, 0}};
  state.problem = {.gpus = {2}, .jobs = {{.rates = {1.0}}, {.rates = {1.0}}, {.rates = {1.0}}}};
  const auto rule = make_rule("gandiva", {.speeds = &speeds});
  const Allocation made = rule->allocate(state);
  ASSERT_EQ(made.pairs.size(), 1U);
  EXPECT_EQ(made.pairs[0].row, (std::vector<double>{1}));
  EXPECT_EQ(rule->allocate(state).pairs[0].one, made.pairs[0].one) << "a good pair stays";
  state.problem.gpus = {3};
  EXPECT_TRUE(rule->allocate(state).pairs.empty());
}

// Half a step on each of two GPUs is no step: five rounds later the job is dropped.
TEST(Engine, DropsAJobThatFailsFiveTimes) {
  EXPECT_EQ(jcts("isolated", {{.number = 0, .gpus = 2, .steps = 361}}, 2),
            (std::vector<double>{365}));
}

// A job that did not run in the round before loses 20 of its 120 s; not in the first round, and not
// where it would run for 115 s at most.
TEST(Engine, ChargesRestarts) {
  const auto rule = make_rule("gandiva_fair", {});
  const std::vector<Job> jobs{{.number = 0, .steps = 230}, {.number = 1, .steps = 120}};
  const Course course = play({.types = {"v100"}, .gpus = {1}}, {.alone = {{1.0}}}, jobs, *rule,
                             {.round_s = 120,
                              .reset_s = 1000,
                              .restart_s = 20,
                              .restart_beyond_s = 115,
                              .fails_late = true,
                              .keeps_rounds = true});
  std::vector<int> order;
  for (const Ran& ran : course.ran) order.push_back(ran.number);
  // 120 of job 0, 100 of job 1 (which has had least), 20 of it, 110 of job 0.
  EXPECT_EQ(order, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(course.ended[1].jct_s, 260);
  EXPECT_EQ(course.ended[0].jct_s, 370);
}

TEST(Rules, HaveNames) {
  Speeds speeds;
  speeds.beside = [](std::size_t, std::size_t, std::size_t) { return std::array{0.5, 0.5}; };
  for (const std::string_view name : rule_names())
    EXPECT_NE(make_rule(name, {.speeds = &speeds}), nullptr) << name;
  EXPECT_EQ(make_rule("no_such_policy", {}), nullptr);
}

}  // namespace
}  // namespace almanac::gavel
