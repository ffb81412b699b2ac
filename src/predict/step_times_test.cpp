// SPDX-License-Identifier: Apache-2.0
#include "predict/step_times.h"

#include <cmath>

#include <gtest/gtest.h>

#include "predict/proven.h"

namespace almanac::predict {
namespace {

class StepTimesTest : public testing::Test {
 protected:
  trace::Request request(std::string_view user, std::string_view name, std::int64_t steps,
                         int batch = 32) {
    trace::Request made;
    made.gpus = 1;
    made.user = names_.intern(user);
    made.name = names_.intern(name);
    made.model = names_.intern("resnet");
    made.batch = batch;
    made.steps = steps;
    return made;
  }
  StepTimes::Seen seen(const trace::Request& of) { return StepTimes::seen(of, kinds_.keys(of)); }
  void learn(const trace::Request& of, Duration ran,
             trace::JobState state = trace::JobState::completed) {
    times_.learn(seen(of), {.ran = ran, .state = state});
  }
  double median_s(const trace::Request& of) {
    const auto said = times_.run_time(seen(of));
    return said ? std::pow(10.0, said->quantile(0.5)) : NAN;
  }

  Names names_;
  Kinds kinds_{names_};
  StepTimes times_;
};

TEST_F(StepTimesTest, PredictsStepsTimesTheTimeOfAStep) {
  learn(request("ann", "train", 1'000), 500s);
  EXPECT_NEAR(median_s(request("ann", "train", 4'000)), 2'000, 100);
}

TEST_F(StepTimesTest, BelievesTheClosestKind) {
  learn(request("ann", "a", 1'000, 32), 100s);
  learn(request("ann", "b", 1'000, 64), 200s);
  learn(request("bob", "b", 1'000, 64), 400s);
  EXPECT_NEAR(median_s(request("bob", "b", 1'000, 64)), 400, 20) << "bob's jobs of this name";
  EXPECT_NEAR(median_s(request("eve", "a", 1'000, 32)), 100, 5) << "all jobs of this name";
  EXPECT_NEAR(median_s(request("eve", "c", 1'000, 32)), 100, 5) << "this model and batch";
  EXPECT_NEAR(median_s(request("eve", "c", 1'000, 8)), 200, 20) << "this model: geometric mean";
}

TEST_F(StepTimesTest, IsSurerTheMoreJobsAgree) {
  const auto width = [&] {
    const auto [low, high] = times_.run_time(seen(request("ann", "train", 1'000)))->central(0.8);
    return high - low;
  };
  learn(request("ann", "train", 1'000), 500s);
  const double after_one = width();
  for (int job = 0; job < 9; ++job) learn(request("ann", "train", 1'000), 500s);
  EXPECT_LT(width(), after_one / 2);
}

TEST_F(StepTimesTest, SaysNothingWithoutStepsOrHistory) {
  EXPECT_FALSE(times_.run_time(seen(request("ann", "train", 1'000))));
  learn(request("ann", "train", 1'000), 500s);
  EXPECT_FALSE(times_.run_time(seen(request("ann", "train", 0))));
}

TEST_F(StepTimesTest, LearnsNothingFromAJobThatFailed) {
  learn(request("ann", "train", 1'000), 5s, trace::JobState::failed);
  EXPECT_FALSE(times_.run_time(seen(request("ann", "train", 1'000))));
}

TEST_F(StepTimesTest, IsBelievedByProvenFromTheFirstJobLikeIt) {
  Proven proven(names_);
  const trace::Request first = request("ann", "train", 1'000);
  EXPECT_EQ(proven.ask(JobId{0}, first).believed, Predictor::history);
  proven.learn(JobId{0}, first, {.ran = 500s, .state = trace::JobState::completed});
  const trace::Request second = request("ann", "train", 10'000);
  EXPECT_EQ(proven.ask(JobId{1}, second).believed, Predictor::steps);
  EXPECT_NEAR(seconds(proven.estimate(JobId{2}, second).run), 5'000, 500);
}

}  // namespace
}  // namespace almanac::predict
