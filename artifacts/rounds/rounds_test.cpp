// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "rounds/blossom.h"
#include "rounds/engine.h"
#include "rounds/schedulers.h"

namespace almanac::rounds {
namespace {

using interleave::Candidate;
using interleave::Group;

Job job_of(int gpus, double submit, double iterations, bool opportunistic = false) {
  return {.gpus = gpus,
          .submit = submit,
          .iterations = iterations,
          .iteration_s = 1,
          .duration_s = iterations,
          .overhead_s = 2,
          .stages = {0.25, 0.5, 0.25},
          .opportunistic = opportunistic};
}

TEST(Engine, ChargesEachEventToThoseThatRun) {
  const std::array jobs{job_of(4, 0, 100), job_of(4, 10, 5)};
  const auto srtf = make_scheduler("srtf", {1, 8});
  const auto results = simulate(jobs, *srtf).value();
  EXPECT_DOUBLE_EQ(results[1].end, 15);
  // It lost 2 s at the arrival and at the end of the other, none on its last leg.
  EXPECT_DOUBLE_EQ(results[0].end, 104);
}

TEST(Engine, SaysThatAJobCannotStart) {
  const std::array jobs{job_of(9, 0, 100)};
  const auto srsf = make_scheduler("srsf", {1, 8});
  EXPECT_TRUE(std::isnan(simulate(jobs, *srsf).value()[0].start));
}

TEST(AntMan, LeavesTheGuaranteedJobItsSpeed) {
  std::array jobs{job_of(8, 0, 100), job_of(8, 0, 30, true)};
  for (Job& job : jobs) job.overhead_s = 0;
  const auto antman = make_scheduler("antman", {1, 8});
  const auto results = simulate(jobs, *antman).value();
  EXPECT_DOUBLE_EQ(results[0].end, 100);
  EXPECT_GT(results[1].end, 30);
}

TEST(Tiresias, EndsWhereTimesAreMilliseconds) {
  // Run times add up a little short of the ends of the queues.
  Rng rng(7);
  std::vector<Job> jobs;
  double submit = 0;
  for (int each = 0; each < 300; ++each) {
    submit += static_cast<double>(rng.below(1'000'000)) / 1e3;
    const double iteration_s = static_cast<double>(1 + rng.below(5'000)) / 1e3;
    const double iterations = static_cast<double>(1 + rng.below(4'000));
    jobs.push_back({.gpus = 1 << rng.below(4),
                    .submit = submit,
                    .iterations = iterations,
                    .iteration_s = iteration_s,
                    .duration_s = iterations * iteration_s,
                    .overhead_s = 0.1});
  }
  const auto scheduler = make_scheduler("tiresias_l", {.nodes = 1, .gpus = 8});
  const std::vector<Result> results = simulate(jobs, *scheduler).value();
  EXPECT_TRUE(std::none_of(results.begin(), results.end(),
                           [](const Result& each) { return std::isnan(each.end); }));
}

/// Plans again after a second, for ever.
class Restless final : public Scheduler {
 public:
  void plan(double, std::vector<Live*>&) override {}
  double next(double now, const std::vector<Live*>&) const override { return now + 1; }
};

TEST(Engine, FailsWhereASchedulerPlansAgainAndAgain) {
  const std::array jobs{job_of(1, 0, 10)};
  Restless restless;
  const auto results = simulate(jobs, restless);
  ASSERT_FALSE(results.has_value());
  EXPECT_THAT(results.error().message, testing::HasSubstr("no job arrived or ended"));
}

TEST(Engine, TakesAnArrivalAndAnEndForOneOnlyWhereItsSchedulerDoes) {
  // The first ends 50 us after the second arrives: apart under SRTF, together under Muri.
  std::array jobs{job_of(8, 0, 10), job_of(8, 10 - 5e-5, 10)};
  for (Job& job : jobs) job.overhead_s = 0;
  const auto srtf = make_scheduler("srtf", {1, 8});
  EXPECT_DOUBLE_EQ(simulate(jobs, *srtf).value()[1].start, 10);
  const auto muri = make_scheduler("muri_l", {1, 8});
  EXPECT_DOUBLE_EQ(simulate(jobs, *muri).value()[1].start, 10 - 5e-5);
}

TEST(PublishedGroups, AreMergedUntilAllFitAndStandAtTheLaterOfTwo) {
  const Candidate loads{8, {3, 1, 0}, 4};
  const Candidate computes{8, {1, 3, 0}, 4};
  const std::array jobs{loads, computes, computes, loads};
  EXPECT_THAT(published_groups(jobs, 32), testing::SizeIs(4));
  for (const Group& pair : published_groups(jobs, 16)) {
    ASSERT_THAT(pair, testing::SizeIs(2));
    EXPECT_LT(pair[0], pair[1]);
    EXPECT_NE(jobs[pair[0]].stages.load, jobs[pair[1]].stages.load);
  }
}

TEST(PublishedMatching, FindsTheHeaviestOfThreeEdges) {
  // Alone the middle edge is the heaviest; the outer two weigh more.
  const OrderedWeights path{{0, 5, 0, 0}, {5, 0, 6, 0}, {0, 6, 0, 5}, {0, 0, 5, 0}};
  EXPECT_THAT(published_matching(path), testing::ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(published_matching({{0}}), testing::ElementsAre(-1));
}

}  // namespace
}  // namespace almanac::rounds
