// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/programs.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rules/solver/linear_program.h"
#include "rules/timeshare/packed.h"
#include "rules/timeshare/partition.h"

namespace almanac::timeshare {

using solver::kNoBound;
using solver::LinearProgram;

namespace {

constexpr double kClose = 1e-7;

/// Two jobs of different speeds, one GPU each.
Problem two_jobs() {
  return {
      .gpus = {1, 1, 1},
      .jobs = {{.rates = {0.5, 1, 2}, .steps_left = 300}, {.rates = {1, 2, 3}, .steps_left = 500}}};
}

// Proportional rates 7/6 and 2. Job 0 has 9/19 of the third type, job 1 the rest of it, and both
// fill up with the second: 28/19 = 24/19 x 7/6, 48/19 = 24/19 x 2.
TEST(MaxMinFairness, EvensOutWhatEachHasOfItsProportionalRate) {
  const Problem problem = two_jobs();
  EXPECT_NEAR(least_normalised_rate(problem, max_min_fairness(problem)), 24.0 / 19, kClose);
}

// 300 steps at 1.5 per second and 500 at 2.5.
TEST(MinTotalDuration, LetsBothEndTogether) {
  const Problem problem = two_jobs();
  EXPECT_NEAR(total_duration_s(problem, min_total_duration(problem)), 200, 1e-4);
}

// Each alone would have half of each type, cut to the whole of its time a third: 7/6 and 2.
TEST(FinishTimeFairness, EvensOutTimesRelativeToThoseAlone) {
  const Problem problem = two_jobs();
  EXPECT_NEAR(worst_finish_time_ratio(problem, finish_time_fairness(problem)), 19.0 / 24, kClose);
}

TEST(FinishTimeFairness, CatchesUpForAJobThatHasWaited) {
  Problem problem{
      .gpus = {1},
      .jobs = {{.rates = {1}, .steps_left = 100, .age_s = 100}, {.rates = {1}, .steps_left = 100}}};
  const Fractions fractions = finish_time_fairness(problem);
  EXPECT_GT(fractions[0][0], fractions[1][0]);
  // (100 + 100 / x) / 200 = (100 / (1 - x)) / 200
  const double x = (std::sqrt(5.0) - 1) / 2;
  EXPECT_NEAR(fractions[0][0], x, 1e-6);
}

TEST(MaxSumThroughput, KeepsDeadlinesWhereAllCanBeKept) {
  Problem problem{.gpus = {1},
                  .jobs = {{.rates = {3}, .steps_left = 300}, {.rates = {1}, .steps_left = 100}}};
  const double none = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(max_sum_throughput(problem, {}, std::vector<double>{none, none})[0][0], 1, kClose);
  EXPECT_NEAR(max_sum_throughput(problem, {}, std::vector<double>{none, 400})[1][0], 0.25, kClose);
  EXPECT_NEAR(max_sum_throughput(problem, {}, std::vector<double>{none, 50})[0][0], 1, kClose);
}

TEST(MaxSumThroughput, CountsWhatTypesCost) {
  const Problem problem{.gpus = {1, 1}, .jobs = {{.rates = {2, 3}}}};
  EXPECT_NEAR(max_sum_throughput(problem)[0][1], 1, kClose);
  EXPECT_NEAR(max_sum_throughput(problem, std::vector<double>{1, 3})[0][0], 1, kClose);
}

// Jobs of two entities with weights 1 and 2: the first entity has two, the second one job.
TEST(WaterFilling, SharesTheWeightOfAnEntityAmongItsJobs) {
  const Problem problem{.gpus = {1}, .jobs = {{.rates = {1}}, {.rates = {1}}, {.rates = {1}}}};
  const std::vector<Entity> entities{{.weight = 1, .jobs = {0, 1}}, {.weight = 2, .jobs = {2}}};
  const Fractions fair = water_filling(problem, entities);
  EXPECT_NEAR(fair[0][0], 1.0 / 6, kClose);
  EXPECT_NEAR(fair[2][0], 2.0 / 3, kClose);
  const std::vector<Entity> first{{.weight = 1, .within = Within::fifo, .jobs = {1, 0}},
                                  {.weight = 2, .jobs = {2}}};
  const Fractions in_order = water_filling(problem, first);
  EXPECT_NEAR(in_order[1][0], 1.0 / 3, kClose);
  EXPECT_NEAR(in_order[0][0], 0, kClose);
}

// A job that is full leaves its weight to those behind it.
TEST(WaterFilling, GoesOnWhereAJobCanHaveNoMore) {
  const Problem problem{.gpus = {2}, .jobs = {{.rates = {1}}, {.rates = {1}}, {.rates = {1}}}};
  const std::vector<Entity> entities{{.weight = 4, .within = Within::fifo, .jobs = {0, 1}},
                                     {.weight = 1, .jobs = {2}}};
  const Fractions fractions = water_filling(problem, entities);
  EXPECT_NEAR(fractions[0][0], 1, kClose);
  EXPECT_NEAR(fractions[1][0], 0.6, kClose);
  EXPECT_NEAR(fractions[2][0], 0.4, kClose);
}

TEST(Packed, LetsTwoJobsShareWhatOneCannotFill) {
  const Problem one{.gpus = {1}, .jobs = {{.rates = {1}, .count = 2}}};
  const auto pairs = [](double rate) {
    return [rate](std::size_t, std::size_t, std::size_t) { return std::array{rate, rate}; };
  };
  EXPECT_NEAR(effective_rates(one, packed_max_min_fairness(one, pairs(0.8)), pairs(0.8))[0], 0.8,
              kClose);
  EXPECT_NEAR(effective_rates(one, packed_max_min_fairness(one, pairs(0.4)), pairs(0.4))[0], 0.5,
              kClose);
}

TEST(Packed, RemembersAnswersOfEqualProgramsOnly) {
  const auto pairs = [](double rate) {
    return [rate](std::size_t, std::size_t, std::size_t) { return std::array{rate, rate}; };
  };
  const Problem two{.gpus = {1}, .jobs = {{.rates = {1}, .count = 2}}};
  const Problem three{.gpus = {1}, .jobs = {{.rates = {1}, .count = 3}}};
  PackedPrograms programs;
  const Packing& first = programs.solve(two, pairs(0.8));
  EXPECT_EQ(&programs.solve(two, pairs(0.8)), &first);
  EXPECT_NE(&programs.solve(two, pairs(0.4)), &first);
  EXPECT_NE(&programs.solve(three, pairs(0.8)), &first);
  EXPECT_NEAR(effective_rates(two, programs.solve(two, pairs(0.4)), pairs(0.4))[0], 0.5, kClose);
  EXPECT_NEAR(effective_rates(three, programs.solve(three, pairs(0.8)), pairs(0.8))[0], 1.6 / 3,
              kClose);
}

/// Up to six jobs on up to three types, some of which some jobs cannot use.
Problem random_problem() {
  Problem problem;
  const auto types = *rc::gen::inRange(1, 4);
  for (int type = 0; type < types; ++type) {
    problem.gpus.push_back(*rc::gen::inRange(type == 0 ? 8 : 0, 12));
  }
  const auto jobs = *rc::gen::inRange(1, 7);
  for (int at = 0; at < jobs; ++at) {
    Job& job = problem.jobs.emplace_back();
    for (int type = 0; type < types; ++type) {
      job.rates.push_back(*rc::gen::inRange(type == 0 ? 1 : 0, 30) / 10.0);
    }
    job.gpus = 1 << *rc::gen::inRange(0, 4);
    job.weight = *rc::gen::inRange(1, 4);
    job.steps_left = *rc::gen::inRange(1, 100'000);
    job.age_s = *rc::gen::inRange(0, 10'000);
  }
  return problem;
}

void expect_possible(const Problem& problem, const Fractions& fractions) {
  std::vector<double> taken(problem.types(), 0.0);
  for (std::size_t job = 0; job < fractions.size(); ++job) {
    RC_ASSERT(std::accumulate(fractions[job].begin(), fractions[job].end(), 0.0) < 1 + 1e-6);
    for (std::size_t type = 0; type < taken.size(); ++type) {
      RC_ASSERT(fractions[job][type] >= 0);
      taken[type] += fractions[job][type] * problem.jobs[job].gpus;
    }
  }
  for (std::size_t type = 0; type < taken.size(); ++type) {
    RC_ASSERT(taken[type] < problem.gpus[type] + 1e-5);
  }
}

// Sharing incentive, and: no program is beaten at its own objective by another's answer.
RC_GTEST_PROP(Programs, AreBestAtWhatTheyOptimise, ()) {
  const Problem problem = random_problem();
  const Fractions fair = max_min_fairness(problem);
  const Fractions in_time = finish_time_fairness(problem);
  const Fractions shortest = min_total_duration(problem);
  const Fractions most = max_sum_throughput(problem);
  for (const Fractions* each : {&fair, &in_time, &shortest, &most}) expect_possible(problem, *each);
  const Fractions alone = isolated(problem);
  for (const Fractions* other : {&fair, &in_time, &shortest, &most, &alone}) {
    const double slack = 1 + 1e-6;
    RC_ASSERT(least_normalised_rate(problem, *other) <=
              least_normalised_rate(problem, fair) * slack);
    RC_ASSERT(worst_finish_time_ratio(problem, *other) * slack >=
              worst_finish_time_ratio(problem, in_time));
    RC_ASSERT(total_duration_s(problem, *other) * slack >= total_duration_s(problem, shortest));
    RC_ASSERT(sum_of_rates(problem, *other) <= sum_of_rates(problem, most) * slack);
  }
}

// Gavel claims it for jobs that could each have 1 / n of the cluster: here of one GPU each.
RC_GTEST_PROP(MaxMinFairness, IsAnIncentiveToShare, ()) {
  Problem problem{.gpus = {2, 1, 2}, .jobs = {}};
  for (auto jobs = *rc::gen::inRange(5, 9); jobs > 0; --jobs) {
    Job& job = problem.jobs.emplace_back();
    for (int type = 0; type < 3; ++type) job.rates.push_back(*rc::gen::inRange(1, 30) / 10.0);
  }
  const Fractions shared = max_min_fairness(problem);
  const Fractions alone = isolated(problem);
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    RC_ASSERT(effective_rate(problem.jobs[job], shared[job]) >=
              effective_rate(problem.jobs[job], alone[job]) * (1 - 1e-6));
  }
}

// It is not strategy-proof, which Gavel does not claim. Job 0 is three times as fast on the first
// type; its level is 1.5 times its time there, that of the others their time: 2 GPUs are 0.75 / 1.5
// and two times 0.75. Where it says that it is nearly as fast on the second, it has 0.66 of the
// first.
TEST(MaxMinFairness, PaysAJobThatLies) {
  Problem problem{.gpus = {1, 1},
                  .jobs = {{.rates = {3, 1}}, {.rates = {1, 1}}, {.rates = {1, 1}}}};
  const Job truth = problem.jobs[0];
  EXPECT_NEAR(effective_rate(truth, max_min_fairness(problem)[0]), 1.5, kClose);
  problem.jobs[0].rates[1] = 2.9;
  EXPECT_GT(effective_rate(truth, max_min_fairness(problem)[0]), 1.9);
}

// Themis' and Gavel's claim, of jobs of one GPU that have just come: none ends later than with 1 /
// n of each type.
RC_GTEST_PROP(FinishTimeFairness, IsAnIncentiveToShare, ()) {
  Problem problem{.gpus = {2, 1, 2}, .jobs = {}};
  for (auto jobs = *rc::gen::inRange(5, 9); jobs > 0; --jobs) {
    Job& job = problem.jobs.emplace_back();
    for (int type = 0; type < 3; ++type) job.rates.push_back(*rc::gen::inRange(1, 30) / 10.0);
    job.steps_left = *rc::gen::inRange(1, 100'000);
  }
  const Fractions shared = finish_time_fairness(problem);
  const Fractions alone = isolated(problem);
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    RC_ASSERT(effective_rate(problem.jobs[job], shared[job]) >=
              effective_rate(problem.jobs[job], alone[job]) * (1 - 1e-5));
  }
}

// No job can have more without another having less: no division with rates at least these has a
// larger sum of them.
RC_GTEST_PROP(MaxMinFairness, IsParetoEfficient, ()) {
  const Problem problem = random_problem();
  const Fractions fair = max_min_fairness(problem);
  LinearProgram program;
  for (const Job& job : problem.jobs) {
    for (const double rate : job.rates) program.add_column(rate, 0, 1);
  }
  const auto types = static_cast<int>(problem.types());
  double sum = 0;
  for (int job = 0; job < static_cast<int>(problem.jobs.size()); ++job) {
    const Job& each = problem.jobs[static_cast<std::size_t>(job)];
    std::vector<LinearProgram::Term> rate;
    std::vector<LinearProgram::Term> time;
    for (int type = 0; type < types; ++type) {
      rate.push_back({job * types + type, each.rates[static_cast<std::size_t>(type)]});
      time.push_back({job * types + type, 1});
    }
    const double has = effective_rate(each, fair[static_cast<std::size_t>(job)]);
    sum += has;
    program.add_row(rate, has * (1 - 1e-7), kNoBound);
    program.add_row(time, 0, 1);
  }
  for (int type = 0; type < types; ++type) {
    std::vector<LinearProgram::Term> gpus;
    for (int job = 0; job < static_cast<int>(problem.jobs.size()); ++job) {
      const double each = problem.jobs[static_cast<std::size_t>(job)].gpus;
      gpus.push_back({job * types + type, each});
    }
    program.add_row(gpus, 0, problem.gpus[static_cast<std::size_t>(type)]);
  }
  RC_ASSERT(program.maximise());
  RC_ASSERT(program.worth() <= sum * (1 + 1e-5));
}

RC_GTEST_PROP(Programs, CountJobsThatAreAlikeOnce, ()) {
  Problem problem = random_problem();
  const std::vector<Job> once = problem.jobs;
  problem.jobs.insert(problem.jobs.end(), once.begin(), once.end());
  const Fractions all = max_min_fairness(problem);
  expect_possible(problem, all);
  for (std::size_t job = 0; job < once.size(); ++job) RC_ASSERT(all[job] == all[job + once.size()]);
}

RC_GTEST_PROP(Partition, OfOnePartIsTheWhole, ()) {
  const Problem problem = random_problem();
  RC_ASSERT(by_parts(problem, 1, max_min_fairness) == max_min_fairness(problem));
}

TEST(Partition, DealsJobsAndGpusOutInTurn) {
  Problem problem{.gpus = {5}, .jobs = {}};
  for (const int weight : {1, 2, 3})
    problem.jobs.push_back({.rates = {1}, .weight = double(weight)});
  const std::vector<Problem> parts = split(problem, 2);
  EXPECT_EQ(parts[1].gpus[0], 2);
  ASSERT_EQ(parts[0].jobs.size(), 2U);
  EXPECT_EQ(parts[0].jobs[1].weight, 3);
  const Fractions together = by_parts(problem, 2, [](const Problem& part) {
    Fractions marks;
    for (const Job& job : part.jobs) marks.push_back({job.weight});
    return marks;
  });
  EXPECT_EQ(together, (Fractions{{1}, {2}, {3}}));
}

TEST(Programs, KnowWhatCannotBeCarriedOut) {
  const Problem problem{.gpus = {2, 1},
                        .jobs = {{.rates = {1, 2}, .gpus = 1}, {.rates = {1, 0}, .gpus = 2}}};
  EXPECT_TRUE(can_be_carried_out(problem, {{0, 1}, {1, 0}}));
  EXPECT_TRUE(can_be_carried_out(problem, isolated(problem)));
  EXPECT_FALSE(can_be_carried_out(problem, {{0.6, 0.6}, {0, 0}})) << "more than all its time";
  EXPECT_FALSE(can_be_carried_out(problem, {{0.1, 0}, {1, 0}})) << "more than two GPUs";
  EXPECT_FALSE(can_be_carried_out(problem, {{0, 0}, {0, 0}})) << "nobody has anything";
  EXPECT_FALSE(can_be_carried_out(problem, {{std::nan(""), 0}, {0, 0}}));
}

}  // namespace
}  // namespace almanac::timeshare
