// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "interleave/antman.h"
#include "interleave/blossom.h"
#include "interleave/engine.h"
#include "interleave/matching.h"
#include "interleave/muri.h"

namespace almanac::interleave {
namespace {

TEST(Period, OfOneJobIsItsStages) {
  const std::array job{Stages{1, 2, 3}};
  EXPECT_DOUBLE_EQ(period(job).best, 6);
  EXPECT_DOUBLE_EQ(period(job).worst, 6);
}

TEST(Period, OfStagesThatFitIsTheLongerJob) {
  const std::array jobs{Stages{3, 1, 0}, Stages{1, 3, 0}};
  EXPECT_DOUBLE_EQ(period(jobs).best, 4);
}

/// The heaviest matching of the vertices that `used` leaves, by trying all.
std::int64_t heaviest(const Weights& weight, unsigned used) {
  std::size_t a = 0;
  while (a < weight.size() && (used >> a & 1U) != 0) ++a;
  if (a == weight.size()) return 0;
  std::int64_t most = heaviest(weight, used | 1U << a);
  for (std::size_t b = a + 1; b < weight.size(); ++b) {
    if ((used >> b & 1U) != 0) continue;
    most = std::max(most, weight[a][b] + heaviest(weight, used | 1U << a | 1U << b));
  }
  return most;
}

TEST(Matching, IsTheHeaviest) {
  Rng rng(1);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t n = 1 + rng.below(8);
    const std::uint64_t largest = 1 + rng.below(12);
    Weights weight(n, std::vector<std::int64_t>(n, 0));
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        if (rng.below(3) == 0) continue;
        weight[a][b] = weight[b][a] = static_cast<std::int64_t>(rng.below(largest));
      }
    }
    const std::vector<int> mates = heaviest_matching(weight);
    std::int64_t sum = 0;
    for (std::size_t a = 0; a < n; ++a) {
      if (mates[a] < 0) continue;
      const auto mate = static_cast<std::size_t>(mates[a]);
      ASSERT_EQ(mates[mate], static_cast<int>(a)) << "round " << round;
      if (mate > a) sum += weight[a][mate];
    }
    ASSERT_EQ(sum, heaviest(weight, 0)) << "round " << round;
  }
}

TEST(Groups, FormOnlyUntilAllFit) {
  const Candidate loads{8, {3, 1, 0}, 4};
  const Candidate computes{8, {1, 3, 0}, 4};
  const std::array jobs{loads, computes, computes, loads};
  EXPECT_THAT(group(jobs, 32), testing::SizeIs(4));
  const std::vector<Group> pairs = group(jobs, 16);
  ASSERT_THAT(pairs, testing::SizeIs(2));
  for (const Group& pair : pairs) {
    ASSERT_THAT(pair, testing::SizeIs(2));
    EXPECT_NE(jobs[pair[0]].stages.load, jobs[pair[1]].stages.load);
  }
  EXPECT_THAT(group(jobs, 24), testing::SizeIs(3));
}

TEST(Groups, AreOnlyOfJobsThatMayShare) {
  const std::array gpus_of{1, 1, 1, 1};
  const auto neighbours = [](const Group& group) {
    return group.size() == 2 && group[0] + 1 == group[1] ? 1.0 : 0.0;
  };
  EXPECT_THAT(group(gpus_of, 2, neighbours), testing::ElementsAre(Group{0, 1}, Group{2, 3}));
  EXPECT_THAT(group(gpus_of, 1, neighbours), testing::SizeIs(2)) << "no group of four has a weight";
}

TEST(Groups, AreMatchedInPartsWhereThereAreMany) {
  const std::vector<int> gpus_of(600, 1);
  const auto weight = [](const Group& group) { return 1.0 / static_cast<double>(group.size()); };
  std::vector<std::size_t> jobs;
  for (const Group& each : group(gpus_of, 300, weight, 64)) {
    EXPECT_LE(each.size(), 2u);
    jobs.insert(jobs.end(), each.begin(), each.end());
  }
  std::sort(jobs.begin(), jobs.end());
  for (std::size_t at = 0; at < gpus_of.size(); ++at) ASSERT_EQ(jobs.at(at), at);
}

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
}  // namespace almanac::interleave
