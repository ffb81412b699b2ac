// SPDX-License-Identifier: Apache-2.0

/// \file
/// What all estimators have in common, and what each of the small ones says.
#include "predict/estimator.h"

#include <cmath>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "predict/proven.h"
#include "predict/replay.h"
#include "predict/testing_log.h"

namespace almanac::predict {
namespace {

struct Known {
  const char* name;
  std::function<std::unique_ptr<Estimator>(const Names&)> make;
};

/// All that are not given outcomes: `oracle` and `noisy` know them by design.
const std::vector<Known>& honest() {
  static const std::vector<Known> kHonest = {
      {"history", [](const Names&) { return make_history(); }},
      {"rolling", [](const Names& names) { return make_rolling(names); }},
      {"learned", [](const Names& names) { return make_learned(names); }},
      {"learned_90", [](const Names& names) { return make_learned_90(names); }},
      {"limit", [](const Names&) { return make_limit(); }},
      {"proven", [](const Names& names) { return make_proven(names); }},
  };
  return kHonest;
}

/// What is said of each job at its submission, as the log was used.
std::vector<Duration> said(Estimator& estimator, std::span<const trace::Job> jobs) {
  std::vector<Duration> made;
  replay(
      jobs,
      [&](JobId job, const trace::Request& request) {
        made.push_back(estimator.estimate(job, request).run);
      },
      [&](JobId job, const trace::Request& request, const Ended& ended) {
        estimator.learn(job, request, ended);
      });
  return made;
}

TEST(Estimator, KnowsNothingThatHasNotHappened) {
  constexpr std::size_t kCount = 450;
  const trace::Trace log = testing_log(600);
  trace::Trace poisoned = testing_log(600);
  const Time now = log.jobs[kCount - 1].request.submit;
  std::size_t changed = 0;
  for (trace::Job& job : poisoned.jobs) {
    if (known_at(job) < now) continue;
    job.outcome.run = job.outcome.run * 1000 + 24h * 30;
    job.outcome.state = trace::JobState::node_fail;
    ++changed;
  }
  ASSERT_GT(changed, 150U);
  for (const Known& each : honest()) {
    auto before = said(*each.make(log.names), log.jobs);
    auto after = said(*each.make(poisoned.names), poisoned.jobs);
    before.resize(kCount);
    after.resize(kCount);
    EXPECT_EQ(before, after) << each.name;
  }
}

TEST(Estimator, SaysTheSameOnAnyThread) {
  const trace::Trace log = testing_log(400);
  for (const Known& each : honest()) {
    const auto alone = said(*each.make(log.names), log.jobs);
    std::vector<std::vector<Duration>> together(4);
    std::vector<std::jthread> threads;
    for (auto& mine : together) {
      threads.emplace_back([&] { mine = said(*each.make(log.names), log.jobs); });
    }
    threads.clear();
    for (const auto& mine : together) EXPECT_EQ(mine, alone) << each.name;
  }
}

RC_GTEST_PROP(Estimator, SaysASecondOrMoreOfAnyJob, ()) {
  trace::Trace log;
  const auto any = [](auto low, auto high) { return *rc::gen::inRange(low, high); };
  Time now{};
  for (std::uint32_t at = 0; at < 60; ++at) {
    trace::Job job;
    now += Duration{any(0, 100'000'000)};
    job.request.submit = now;
    job.request.gpus = any(1, 5000);
    job.request.user = log.names.intern(*rc::gen::arbitrary<std::string>());
    job.request.name = log.names.intern(*rc::gen::arbitrary<std::string>());
    if (any(0, 2) == 0) job.request.time_limit = Duration{any(-5, 2'000'000'000)};
    job.outcome.run = Duration{any(0, 2) == 0 ? 0 : any(0, 2'000'000'000)};
    log.jobs.push_back(job);
  }
  for (const Known& each : honest()) {
    for (const Duration believed : said(*each.make(log.names), log.jobs)) {
      RC_ASSERT(believed >= 1s);
      RC_ASSERT(believed <= 24h * 365);
    }
  }
}

TEST(Learned90, IsRarelyTooShort) {
  const trace::Trace log = testing_log(3000);
  const auto bound = said(*make_learned_90(log.names), log.jobs);
  constexpr std::size_t kFrom = 1000;
  std::size_t kept = 0;
  for (std::size_t at = kFrom; at < bound.size(); ++at) {
    kept += log.jobs[at].outcome.run <= bound[at] ? 1U : 0U;
  }
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(bound.size() - kFrom), 0.9, 0.02);
}

TEST(Rolling, TakesTheMostSimilarNameOfTheUser) {
  Names names;
  const auto rolling = make_rolling(names);
  const auto request = [&](const char* user, const char* name) {
    trace::Request made;
    made.gpus = 1;
    made.user = names.intern(user);
    made.name = names.intern(name);
    return made;
  };
  const auto believed_s = [&](const char* user, const char* name) {
    return seconds(rolling->estimate(JobId{0}, request(user, name)).run);
  };
  rolling->learn(JobId{0}, request("ann", "resnet_lr0.1"), {.ran = 100s});
  rolling->learn(JobId{1}, request("ann", "bert"), {.ran = 300s});
  rolling->learn(JobId{2}, request("bob", "resnet_lr0.3"), {.ran = 5000s});
  EXPECT_EQ(believed_s("ann", "resnet_lr0.2"), 100);
  // Nothing of hers is like it: her jobs of as many GPUs.
  EXPECT_EQ(believed_s("ann", "evaluate_all"), 200);
  // Nothing is known of eve: all jobs of as many GPUs.
  EXPECT_EQ(believed_s("eve", "resnet_lr0.1"), 1800);
}

/// Relative errors of the noisy estimate of 20,000 jobs of 1,000 s.
std::vector<double> noise(std::uint64_t seed) {
  std::vector<trace::Job> jobs(20'000);
  for (trace::Job& job : jobs) job.outcome.run = 1000s;
  const auto noisy = make_noisy(jobs, seed);
  std::vector<double> errors;
  for (std::uint32_t at = 0; at < jobs.size(); ++at) {
    errors.push_back(seconds(noisy->estimate(JobId{at}, {}).run) / 1000 - 1);
  }
  return errors;
}

TEST(Noisy, ErrsAsThePaperSays) {
  const auto errors = noise(6);
  const auto share = [&](double low, double high) {
    const auto inside = std::count_if(errors.begin(), errors.end(), [&](double error) {
      return std::abs(error) > low && std::abs(error) <= high;
    });
    return static_cast<double>(inside) / static_cast<double>(errors.size());
  };
  // Three standard deviations of such a share are 0.01 at most.
  EXPECT_NEAR(share(-1, 0.1), 0.1, 0.01);
  EXPECT_NEAR(share(0.1, 0.5), 0.4, 0.01);
  EXPECT_NEAR(share(0.5, 1), 0.2, 0.01);
  EXPECT_NEAR(share(1, 10), 0.2, 0.01);
  EXPECT_NEAR(share(10, 100), 0.1, 0.01);
  // Half of those that are off by more than the run time itself are negative, as in the file.
  const auto negative =
      std::count_if(errors.begin(), errors.end(), [](double e) { return e < -1; });
  EXPECT_NEAR(static_cast<double>(negative) / static_cast<double>(errors.size()), 0.15, 0.01);
}

TEST(Lognormal, TwoThirdsOfTheEstimatesAreWithinOneSigma) {
  std::vector<trace::Job> jobs(20'000);
  for (trace::Job& job : jobs) job.outcome.run = 1000s;
  const auto estimator = make_lognormal(jobs, 1);
  int inside = 0;
  int above = 0;
  for (std::uint32_t at = 0; at < jobs.size(); ++at) {
    const double ratio = seconds(estimator->estimate(JobId{at}, {}).run) / 1000;
    inside += ratio > std::exp(-1.0) && ratio < std::exp(1.0) ? 1 : 0;
    above += ratio > 1 ? 1 : 0;
  }
  EXPECT_NEAR(inside / 20'000.0, 0.683, 0.01);
  EXPECT_NEAR(above / 20'000.0, 0.5, 0.01);
  EXPECT_EQ(make_lognormal(jobs, 0)->estimate(JobId{7}, {}).run, 1000s);
}

TEST(Lognormal, EstimatesACenturyAtMost) {
  constexpr Duration kCentury = 36'525 * 24h;
  std::vector<trace::Job> jobs(20'000);
  for (trace::Job& job : jobs) job.outcome.run = 1000s;
  const auto estimator = make_lognormal(jobs, 10);
  int at_most = 0;
  for (std::uint32_t at = 0; at < jobs.size(); ++at) {
    const Duration run = estimator->estimate(JobId{at}, {}).run;
    ASSERT_GE(run, Duration{0});
    ASSERT_LE(run, kCentury);
    at_most += run == kCentury ? 1 : 0;
  }
  // exp(10 x) of 1000 s exceeds a century if x is above 1.5, which one in fifteen is.
  EXPECT_NEAR(at_most / 20'000.0, 0.067, 0.01);
}

TEST(Noisy, DrawsEachJobByItselfAndBySeed) {
  EXPECT_EQ(noise(6), noise(6));
  EXPECT_NE(noise(6), noise(7));
  std::vector<trace::Job> jobs(3);
  for (trace::Job& job : jobs) job.outcome.run = 1000s;
  const Duration third = make_noisy(jobs)->estimate(JobId{2}, {}).run;
  const auto noisy = make_noisy(jobs);
  noisy->estimate(JobId{0}, {});
  EXPECT_EQ(noisy->estimate(JobId{2}, {}).run, third);
}

}  // namespace
}  // namespace almanac::predict
