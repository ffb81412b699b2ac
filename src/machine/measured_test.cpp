// SPDX-License-Identifier: Apache-2.0
#include "machine/measured.h"

#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::machine {
namespace {

using store::JobNumber;

/// Jobs 7 and 8, which the policy knows as 0 and 1, on a machine of one node.
class MeasuredTest : public testing::Test {
 protected:
  MeasuredTest() : book_([](JobNumber) { return std::nullopt; }), numbers_{kFirst, kSecond} {
    for (const JobNumber number : numbers_) {
      store::Job job{.number = number, .asked = {}};
      job.asked.change().gpus = 1;
      book_.add(std::move(job)).of_runs.change().gpu_use.start(Time{0s});
    }
  }
  /// Both jobs and the machine, as looked at from `from` until 5 s later.
  static Sight at(Duration from) {
    const Time begun{from};
    const Time now{from + 5s};
    Sight made;
    made.bandwidth_gbs = perf::Stretch{begun, now, 30};
    made.jobs = {{.job = kFirst,
                  .gpu_use = perf::Stretch{begun, now, 0.8},
                  .bandwidth_gbs = perf::Stretch{begun, now, 10}},
                 {.job = kSecond, .bandwidth_gbs = perf::Stretch{begun, now, 20}}};
    return made;
  }

  static constexpr JobNumber kFirst{7};
  static constexpr JobNumber kSecond{8};
  const JobId first_{0};
  const JobId second_{1};
  Book book_;
  std::vector<JobNumber> numbers_;
  Measured measured_{book_, numbers_, {}, 1};
};

TEST_F(MeasuredTest, TellsOfEachJobWhatIsKnown) {
  for (Duration from = 0s; from < 60s; from += 5s) measured_.take(at(from));
  EXPECT_DOUBLE_EQ(measured_.gpu_use(first_).value(), 0.8);
  EXPECT_FALSE(measured_.gpu_use(second_)) << "nothing tells";
  EXPECT_EQ(measured_.bandwidth_gbs(first_), 10);
  EXPECT_EQ(measured_.bandwidth_gbs(second_), 20);
  EXPECT_EQ(measured_.bandwidth_gbs(NodeId{0}), 30);
}

TEST_F(MeasuredTest, TellsHowFastAJobIsOnceForEachWay) {
  Entry& entry = *book_.find(kFirst);
  entry.job.asked.change().batch = 100;
  entry.job.asked.change().steps = 900;
  entry.job.asked.change().max_gpus = 8;
  const auto before = measured_.training(first_, Time{});
  ASSERT_TRUE(before) << "a policy has to know beforehand what it may deal";
  EXPECT_EQ(
      before->batches,
      (elastic::BatchLimits{
          .initial_batch = 100, .max_batch = 100, .min_local_batch = 1, .max_local_batch = 100}));
  EXPECT_TRUE(before->seen.empty());

  entry.job.held_gpus = {{.node = NodeId{0}, .gpus = 0b111}};
  Sight sight;
  Sight::OfJob& said = sight.jobs.emplace_back();
  said.job = kFirst;
  said.progress = perf::OwnProgress{.pace = {{.step_s = 0.5, .exchange_s = 0.1}}};
  auto reports = measured_.take(sight);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(std::isnan(reports.front().metric));
  said.progress->pace->step_s = 0.6;
  EXPECT_TRUE(measured_.take(sight).empty()) << "the first of a way counts";
  said.progress->pace->samples = 64;
  said.progress->batches = {{.most = 400, .least_of_gpu = 8}};
  EXPECT_EQ(measured_.take(sight).size(), 1U);
  const auto told = measured_.training(first_, Time{});
  ASSERT_EQ(told->seen.size(), 2U);
  EXPECT_EQ(told->seen[0].gpus, 3);
  EXPECT_EQ(told->seen[0].atomic_batch, 34) << "a third of the batch";
  EXPECT_EQ(told->seen[0].time.step_s, 0.5);
  EXPECT_EQ(told->seen[1].atomic_batch, 64);
  EXPECT_EQ(
      told->batches,
      (elastic::BatchLimits{
          .initial_batch = 100, .max_batch = 400, .min_local_batch = 8, .max_local_batch = 400}));
}

TEST_F(MeasuredTest, TellsOfAMetricOnceAndOfProgressAlways) {
  book_.find(kFirst)->job.asked.change().steps = 900;
  EXPECT_FALSE(measured_.training(first_, Time{})) << "it says nothing";
  Sight sight;
  Sight::OfJob& said = sight.jobs.emplace_back();
  said.job = kFirst;
  said.progress = perf::OwnProgress{.step = 100};
  EXPECT_TRUE(measured_.take(sight).empty());
  EXPECT_EQ(measured_.training(first_, Time{})->progress, 100);
  said.progress->metric = {.value = 0.5, .step = 100};
  const auto reports = measured_.take(sight);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.front().job, kFirst);
  EXPECT_EQ(reports.front().metric, 0.5);
  EXPECT_TRUE(measured_.take(sight).empty()) << "nothing is new";
  said.progress->step = 200;
  EXPECT_TRUE(measured_.take(sight).empty());
  const auto told = measured_.training(first_, Time{});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->total, 900);
  EXPECT_EQ(told->progress, 200);
  EXPECT_EQ(told->metric, 0.5);
  EXPECT_EQ(told->metric_at, 100);
}

TEST_F(MeasuredTest, TellsPoliciesALossAsWhatIsLargerTheBetter) {
  book_.find(kFirst)->job.asked.change().smaller_is_better = true;
  Sight sight;
  Sight::OfJob& said = sight.jobs.emplace_back();
  said.job = kFirst;
  said.progress = perf::OwnProgress{.step = 1, .metric = {{.value = 0.25, .step = 1}}};
  measured_.take(sight);
  EXPECT_EQ(measured_.training(first_, Time{})->metric, -0.25);
}

TEST_F(MeasuredTest, DoesNotTellTrafficOfBeforeAChange) {
  measured_.take(at(0s));
  EXPECT_TRUE(measured_.bandwidth_gbs(NodeId{0}));
  measured_.change(Time{7s});
  EXPECT_FALSE(measured_.bandwidth_gbs(NodeId{0}));
  measured_.take(at(5s));
  EXPECT_FALSE(measured_.bandwidth_gbs(NodeId{0})) << "part of it was before";
  EXPECT_FALSE(measured_.bandwidth_gbs(first_));
  measured_.take(at(10s));
  EXPECT_TRUE(measured_.bandwidth_gbs(NodeId{0}));
  EXPECT_TRUE(measured_.bandwidth_gbs(first_));
  measured_.take({});
  EXPECT_FALSE(measured_.bandwidth_gbs(NodeId{0})) << "the counters went silent";
}

TEST_F(MeasuredTest, DoesNotDivideTheMachinesTrafficAmongNodes) {
  Measured two(book_, numbers_, {}, 2);
  two.take(at(0s));
  EXPECT_FALSE(two.bandwidth_gbs(NodeId{0}));
  EXPECT_TRUE(two.bandwidth_gbs(first_));
}

TEST_F(MeasuredTest, WillKnowOfWholeGpusThatTell) {
  EXPECT_FALSE(measured_.will_know_gpu_use(first_)) << "nothing has been looked at yet";
  Sight sight = at(0s);
  sight.all_gpus_tell = true;
  measured_.take(sight);
  EXPECT_TRUE(measured_.will_know_gpu_use(first_));
  book_.find(kFirst)->job.asked.change().gpu_share = 0.5;
  EXPECT_FALSE(measured_.will_know_gpu_use(first_));
}

TEST_F(MeasuredTest, KnowsNothingOfAJobThatIsGone) {
  measured_.take(at(0s));
  book_.erase(kFirst);
  measured_.take(at(5s));
  EXPECT_FALSE(measured_.gpu_use(first_));
  EXPECT_FALSE(measured_.bandwidth_gbs(first_));
  EXPECT_FALSE(measured_.will_know_gpu_use(first_));
}

}  // namespace
}  // namespace almanac::machine
