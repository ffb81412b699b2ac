// SPDX-License-Identifier: Apache-2.0
#include "predict/learned.h"

#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "predict/evaluate.h"
#include "predict/replay.h"
#include "predict/testing_log.h"

namespace almanac::predict {
namespace {

/// What is said of the first `count` jobs, in the order in which they come.
std::vector<Forecast> forecasts(const trace::Trace& trace, std::size_t count,
                                std::size_t most = LearnedOptions{}.most) {
  Learned learned(trace.names, {.refresh = 24h, .most = most});
  std::vector<Forecast> made;
  replay(
      std::span(trace.jobs).first(count),
      [&](JobId job, const trace::Request& request) {
        made.push_back(learned.forecast(learned.foresee(job, request)));
      },
      [&](JobId job, const trace::Request& request, const Ended& ended) {
        learned.learn(job, request, ended);
      });
  EXPECT_GE(learned.fits(), 2);
  return made;
}

void expect_same(const std::vector<Forecast>& a, const std::vector<Forecast>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t at = 0; at < a.size(); ++at) {
    ASSERT_EQ(a[at].typical, b[at].typical) << "job " << at;
    ASSERT_EQ(a[at].median, b[at].median) << "job " << at;
    ASSERT_EQ(a[at].center, b[at].center) << "job " << at;
    ASSERT_EQ(a[at].low, b[at].low) << "job " << at;
    ASSERT_EQ(a[at].high, b[at].high) << "job " << at;
  }
}

TEST(Learned, LooksAtWhatHasHappened) {
  constexpr std::size_t kCount = 900;
  trace::Trace log = testing_log(kCount);
  const auto before = forecasts(log, kCount);
  for (trace::Job& job : log.jobs) job.outcome.run *= 2;
  const auto after = forecasts(log, kCount);
  double moved = 0;
  for (std::size_t at = 300; at < kCount; ++at) moved += after[at].center - before[at].center;
  EXPECT_NEAR(moved / (kCount - 300), std::log10(2.0), 0.1);
}

TEST(Learned, SaysTheSameTwice) {
  const trace::Trace log = testing_log(700);
  expect_same(forecasts(log, 700), forecasts(log, 700));
}

TEST(Learned, SaysTheSameBesideAnother) {
  const trace::Trace log = testing_log(700);
  const auto alone = forecasts(log, 700);
  std::vector<Forecast> beside;
  std::thread other([&] { beside = forecasts(log, 700); });
  const auto here = forecasts(log, 700);
  other.join();
  expect_same(alone, here);
  expect_same(alone, beside);
}

TEST(Learned, IsFittedToAllOfALogThatIsNoLongerThanAFit) {
  constexpr std::size_t kCount = 900;
  const trace::Trace log = testing_log(kCount);
  expect_same(forecasts(log, kCount, kCount), forecasts(log, kCount, 100 * kCount));
}

TEST(Learned, BoundsWhatAFitLooksAtAndHowManyThereAre) {
  constexpr std::size_t kCount = 3'000;
  constexpr std::size_t kMost = 400;
  const trace::Trace log = testing_log(kCount);
  Learned learned(log.names, {.refresh = 6h, .most = kMost});
  int outgrown_at = 0;
  replay(
      log.jobs,
      [&](JobId job, const trace::Request& request) {
        const int before = learned.fits();
        static_cast<void>(learned.foresee(job, request));
        const std::size_t kept = learned.examples().all().size();
        ASSERT_LE(kept, learned.fits() > before ? kMost : 2 * kMost);
        if (learned.examples().ended() <= kMost) outgrown_at = learned.fits();
      },
      [&](JobId job, const trace::Request& request, const Ended& ended) {
        learned.learn(job, request, ended);
      });
  EXPECT_EQ(learned.examples().ended(), kCount);
  // A week is six hours here, 72 jobs: 36 of them follow. Each fit knows of an eighth more.
  EXPECT_LE(learned.fits() - outgrown_at, 2 + std::log(kCount / 400.0) / std::log(1.125));
  EXPECT_GE(learned.fits() - outgrown_at, 8);
}

TEST(Learned, RemembersOfAVeryLongQueueWhatAFitCouldLookAt) {
  constexpr std::size_t kMost = 10;
  const trace::Trace log = testing_log(100);
  Learned learned(log.names, {.most = kMost});
  for (std::uint32_t at = 0; at < log.jobs.size(); ++at) {
    static_cast<void>(learned.foresee(JobId{at}, log.jobs[at].request));
  }
  for (std::uint32_t at = 0; at < log.jobs.size(); ++at) {
    const trace::Job& job = log.jobs[at];
    learned.learn(JobId{at}, job.request, {.at = job.outcome.end, .ran = job.outcome.run});
  }
  EXPECT_EQ(learned.examples().ended(), 2 * kMost);
}

TEST(Learned, IsCalibratedOnTheLatestOnly) {
  const trace::Trace log = testing_log(1'000 + Model::kCalibrated);
  Learned learned(log.names);
  replay(
      log.jobs, [&](JobId job, const trace::Request& request) { learned.watch(job, request); },
      [&](JobId job, const trace::Request& request, const Ended& ended) {
        learned.learn(job, request, ended);
      });
  const std::span<const Example> all = learned.examples().all();
  const std::size_t fresh = Model::kCalibrated + 500;
  const Model earlier = Model::fit(all.first(500), {});
  const auto error = [&](std::size_t altered) {
    std::vector<Example> examples(all.begin(), all.end());
    examples[altered].log += 3;
    return Model::refit(examples, earlier, fresh).calibration().mean_error;
  };
  EXPECT_EQ(error(0), error(999)) << "the latest but a few are not looked at";
  EXPECT_NE(error(0), error(1'000));
}

TEST(Learned, BeatsTheSimpleOnesAndKeepsItsIntervals) {
  const trace::Trace log = testing_log(6000);
  const auto evaluation = evaluate(log, {});
  ASSERT_TRUE(evaluation);
  const Score learned = score(*evaluation, evaluation->estimators.front(), all_tested(*evaluation));
  EXPECT_NEAR(learned.coverage_90, 0.9, 0.02);
  for (std::size_t at = 3; at < evaluation->estimators.size(); ++at) {
    const Score other = score(*evaluation, evaluation->estimators[at], all_tested(*evaluation));
    EXPECT_LT(learned.median_abs_log10_error, other.median_abs_log10_error)
        << evaluation->estimators[at].name;
    EXPECT_GT(learned.spearman_gpu_time, other.spearman_gpu_time)
        << evaluation->estimators[at].name;
  }
}

TEST(Learned, NeedsNoModelForJobsThatNobodyAsksAbout) {
  const trace::Trace log = testing_log(900);
  Learned learned(log.names, {.refresh = 24h});
  teach(learned, log.jobs);
  EXPECT_EQ(learned.fits(), 0);
  EXPECT_EQ(learned.examples().all().size(), 900U);
  learned.answer_at_once(log.jobs.back().request.submit);
  EXPECT_EQ(learned.fits(), 1);
}

TEST(Learned, FitsAsideForWhoCannotWait) {
  constexpr std::size_t kTaught = 400;
  const trace::Trace log = testing_log(kTaught);
  Learned learned(log.names);
  teach(learned, log.jobs);
  const Time now = log.jobs.back().request.submit;
  learned.answer_at_once(now);
  // A model is due when as many have ended again; some more end while it is made.
  constexpr std::size_t kEnd = kTaught + 50;
  std::size_t asked = 0;
  for (; learned.fits() < 2 && asked < 100'000; ++asked) {
    const JobId job{static_cast<std::uint32_t>(kTaught + asked)};
    trace::Request request = log.jobs[asked % kTaught].request;
    request.submit = now;
    static_cast<void>(learned.foresee(job, request));
    if (asked < kEnd) learned.learn(job, request, {.at = now, .ran = 100s, .state = {}});
    if (asked >= kEnd) std::this_thread::sleep_for(1ms);
  }
  ASSERT_EQ(learned.fits(), 2);
  EXPECT_GT(asked, kEnd) << "it was waited for";
  EXPECT_EQ(learned.examples().all().size(), kTaught + kEnd);
}

RC_GTEST_PROP(Learned, SaysSomethingPossibleOfAnyJob, ()) {
  trace::Trace log;
  const auto any = [](auto low, auto high) { return *rc::gen::inRange(low, high); };
  Learned learned(log.names);
  Time now{};
  for (std::uint32_t at = 0; at < 40; ++at) {
    trace::Request request;
    now += Duration{any(0, 100'000'000)};
    request.submit = now;
    request.gpus = any(1, 5000);
    request.user = log.names.intern(*rc::gen::arbitrary<std::string>());
    request.name = log.names.intern(*rc::gen::arbitrary<std::string>());
    if (any(0, 2) == 0) request.time_limit = Duration{any(-5, 2'000'000'000)};
    const Belief belief = learned.estimate(JobId{at}, request);
    RC_ASSERT(belief.run >= 1s);
    RC_ASSERT(belief.run <= 24h * 365);
    RC_ASSERT(std::abs(belief.distribution->total() - 1) < 1e-4);
    learned.learn(JobId{at}, request,
                  {.at = now, .ran = Duration{any(0, 2'000'000'000)}, .state = {}});
  }
}

}  // namespace
}  // namespace almanac::predict
