// SPDX-License-Identifier: Apache-2.0
#include "live/measured.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::live {
namespace {

using store::JobNumber;

/// Jobs 7 and 8, which the policy knows as 0 and 1, on a machine of one node.
class MeasuredTest : public testing::Test {
 protected:
  MeasuredTest() : book_([](JobNumber) { return std::nullopt; }), numbers_{kFirst, kSecond} {
    for (const JobNumber number : numbers_) {
      store::Job job{.number = number, .asked = {}};
      job.asked.gpus = 1;
      book_.add(std::move(job)).gpu_use.start(Time{0s});
    }
  }
  /// Both jobs and the machine, as looked at from `from` until 5 s later.
  static Sight at(Duration from) {
    const Time begun{from};
    const Time now{from + 5s};
    Sight made;
    made.bandwidth_gbs = measure::Stretch{begun, now, 30};
    made.jobs = {{.job = kFirst,
                  .gpu_use = measure::Stretch{begun, now, 0.8},
                  .bandwidth_gbs = measure::Stretch{begun, now, 10}},
                 {.job = kSecond, .bandwidth_gbs = measure::Stretch{begun, now, 20}}};
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

TEST_F(MeasuredTest, TellsOfAMetricOnceAndOfProgressAlways) {
  book_.find(kFirst)->job.asked.steps = 900;
  EXPECT_FALSE(measured_.training(first_, Time{})) << "it says nothing";
  Sight sight;
  Sight::OfJob& said = sight.jobs.emplace_back();
  said.job = kFirst;
  said.progress = measure::OwnProgress{.step = 100};
  EXPECT_TRUE(measured_.take(sight).empty());
  EXPECT_EQ(measured_.training(first_, Time{})->progress, 100);
  said.progress->metric = {.value = 0.5, .step = 100};
  EXPECT_EQ(measured_.take(sight), std::vector{kFirst});
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
  book_.find(kFirst)->job.asked.gpu_share = 0.5;
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
}  // namespace almanac::live
