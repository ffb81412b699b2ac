// SPDX-License-Identifier: Apache-2.0
#include "service/answers.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace almanac::service {
namespace {

using store::JobNumber;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr JobNumber kOne{1};
constexpr JobNumber kTwo{2};
constexpr Time kNoon{12h};
constexpr std::uint64_t kFirst = 1;  // revision of the service

class AnswersTest : public testing::Test {
 protected:
  /// Publishes forecasts of these jobs; gives those whose first one it was.
  std::vector<JobNumber> publish(const std::vector<JobNumber>& jobs, Time at = kNoon) {
    Answers::Forecasts made;
    std::vector<store::Told> told;
    for (const JobNumber job : jobs) {
      made[job] = Expected{.at = at};
      told.push_back({.job = job});
    }
    answers_.publish(std::move(made), told);
    std::vector<JobNumber> first;
    for (const store::Told& each : told) first.push_back(each.job);
    return first;
  }
  static store::Submission asking(int gpus) {
    store::Submission made;
    made.gpus = gpus;
    return made;
  }

  FakeClock clock_;
  Answers answers_{clock_};
};

TEST_F(AnswersTest, HasTheLastForecastAndSaysWhichIsTheFirst) {
  EXPECT_FALSE(answers_.of(kOne));
  EXPECT_THAT(publish({kOne}), ElementsAre(kOne));
  EXPECT_THAT(publish({kOne, kTwo}, kNoon + 1min), ElementsAre(kTwo));
  EXPECT_EQ(answers_.of(kOne)->at, kNoon + 1min);
  publish({kTwo});
  EXPECT_FALSE(answers_.of(kOne)) << "it is gone";
}

TEST_F(AnswersTest, WaitsForOtherNumbersOfGpus) {
  publish({kOne});
  EXPECT_FALSE(answers_.is_question_open());
  auto asked = std::async(std::launch::async, [this] { return answers_.ask(kOne, 1min); });
  while (!answers_.is_question_open()) {
  }
  EXPECT_THAT(answers_.jobs_asked(), ElementsAre(kOne));
  answers_.answer(kOne, {{.gpus = 4}});
  EXPECT_EQ(asked.get()->other_gpus->front().gpus, 4);
  EXPECT_FALSE(answers_.is_question_open());
  publish({kOne}, kNoon + 1min);
  EXPECT_EQ(answers_.of(kOne)->other_gpus->front().gpus, 4) << "until there are new ones";
}

TEST_F(AnswersTest, ForgetsQuestionsThatNobodyAsksAnyMore) {
  publish({kOne});
  EXPECT_FALSE(answers_.ask(kOne, 0ms));
  clock_.advance(1min);
  publish({kOne});
  EXPECT_THAT(answers_.jobs_asked(), ElementsAre(kOne));
  clock_.advance(1ms);
  publish({kOne});
  EXPECT_THAT(answers_.jobs_asked(), IsEmpty());
}

TEST_F(AnswersTest, AnswersForTheFourJobsAskedAboutLast) {
  for (int job = 1; job <= 5; ++job) {
    answers_.ask(JobNumber{job}, 0ms);
    clock_.advance(1s);
  }
  EXPECT_THAT(answers_.jobs_asked(),
              ElementsAre(JobNumber{2}, JobNumber{3}, JobNumber{4}, JobNumber{5}));
}

TEST_F(AnswersTest, AnswersForJobsThatNobodyHasSubmitted) {
  EXPECT_FALSE(answers_.ask(asking(1), kFirst));
  EXPECT_TRUE(answers_.is_question_open());
  ASSERT_THAT(answers_.open_questions(), ElementsAre(asking(1)));
  answers_.answer(asking(1), kFirst, {.at = kNoon});
  EXPECT_EQ(answers_.ask(asking(1), kFirst)->at, kNoon);
  EXPECT_FALSE(answers_.ask(asking(2), kFirst));
  EXPECT_THAT(answers_.open_questions(), ElementsAre(asking(2)));
  clock_.advance(1min + 1ms);
  EXPECT_FALSE(answers_.ask(asking(1), kFirst)) << "an old answer is worth nothing";
}

// A client that asks each second for as long as it likes.
TEST_F(AnswersTest, AnswersAgainOnceSomethingHasChanged) {
  EXPECT_FALSE(answers_.ask(asking(1), kFirst));
  answers_.answer(asking(1), kFirst, {.at = kNoon});
  for (int second = 0; second < 60; ++second) {
    EXPECT_TRUE(answers_.ask(asking(1), kFirst)) << "nothing has changed after " << second << " s";
    clock_.advance(1s);
  }
  EXPECT_FALSE(answers_.ask(asking(1), kFirst + 1));
  EXPECT_THAT(answers_.open_questions(), ElementsAre(asking(1)));
  answers_.answer(asking(1), kFirst + 1, {.at = kNoon + 1min});
  EXPECT_EQ(answers_.ask(asking(1), kFirst + 2)->at, kNoon + 1min) << "5 s pass until the next";
  clock_.advance(5s + 1ms);
  EXPECT_FALSE(answers_.ask(asking(1), kFirst + 2));
}

TEST_F(AnswersTest, EndsEveryWait) {
  auto asked = std::async(std::launch::async, [this] { return answers_.ask(kOne, 1h); });
  answers_.end();
  EXPECT_FALSE(asked.get());
  EXPECT_TRUE(answers_.has_ended());
  answers_.sleep(std::chrono::hours(1));
}

}  // namespace
}  // namespace almanac::service
