// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/names.h"
#include "predict/estimator.h"

namespace almanac::predict {
namespace {

class HistoryTest : public testing::Test {
 protected:
  trace::Request request(std::string_view user, std::string_view name, int gpus) {
    trace::Request made;
    made.user = names_.intern(user);
    made.name = names_.intern(name);
    made.gpus = gpus;
    return made;
  }
  double estimate(const trace::Request& request) {
    return seconds(history_->estimate(JobId{0}, request).run);
  }

  void learn(const trace::Request& request, Duration ran) {
    history_->learn(JobId{0}, request, {.ran = ran});
  }

  Names names_;
  std::unique_ptr<Estimator> history_ = make_history(0.5);
};

TEST_F(HistoryTest, BelievesAnHourWhenNothingIsKnown) {
  EXPECT_EQ(estimate(request("ann", "train", 1)), 3600);
}

TEST_F(HistoryTest, WeighsTheLatestOfOneNameMost) {
  learn(request("ann", "train", 1), 100s);
  learn(request("ann", "train", 1), 400s);
  // Weights 1/2 and 1.
  EXPECT_EQ(estimate(request("ann", "train", 1)), (0.5 * 100 + 400) / 1.5);
}

TEST_F(HistoryTest, FallsBackFromNameToUserToDemandToAll) {
  learn(request("ann", "train", 1), 100s);
  learn(request("bob", "test", 2), 300s);
  EXPECT_EQ(estimate(request("ann", "train", 8)), 100)
      << "her jobs of that name, whatever they ask";
  EXPECT_EQ(estimate(request("ann", "other", 1)), 100) << "her jobs of that demand";
  EXPECT_EQ(estimate(request("ann", "other", 2)), 300) << "all users' jobs of that demand";
  EXPECT_EQ(estimate(request("eve", "other", 2)), 300);
  EXPECT_EQ(estimate(request("eve", "other", 8)), 200) << "all jobs";
}

TEST_F(HistoryTest, KnowsNobodyWhoseNameIsNotGiven) {
  learn(request("", "train", 1), 100s);
  learn(request("ann", "train", 1), 300s);
  EXPECT_EQ(estimate(request("", "train", 1)), 200) << "all users' jobs of that demand";
  EXPECT_EQ(estimate(request("ann", "", 1)), 300) << "her jobs of that demand";
}

TEST_F(HistoryTest, ServesWhereALimitIsMissing) {
  const auto limit = make_limit();
  trace::Request asked = request("ann", "train", 1);
  limit->learn(JobId{0}, asked, {.ran = 100s});
  EXPECT_EQ(limit->estimate(JobId{0}, asked).run, 100s);
  asked.time_limit = 7s;
  EXPECT_EQ(limit->estimate(JobId{0}, asked).run, 7s);
}

TEST(Oracle, KnowsTheTruth) {
  std::vector<trace::Job> jobs(2);
  jobs[1].outcome.run = 42s;
  EXPECT_EQ(make_oracle(jobs)->estimate(JobId{1}, jobs[1].request).run, 42s);
}

TEST(GivenDeathTest, NeedsAPredictionForEveryJob) {
  trace::Request asked;
  asked.predicted = -3s;
  EXPECT_EQ(make_given()->estimate(JobId{0}, asked).run, -3s) << "a prediction may be negative";
  asked.predicted = kNoDuration;
  EXPECT_DEATH(make_given()->estimate(JobId{5}, asked), "job 5 has no prediction");
}

}  // namespace
}  // namespace almanac::predict
