// SPDX-License-Identifier: Apache-2.0
#include "predict/proven.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "predict/replay.h"
#include "predict/testing_log.h"

namespace almanac::predict {
namespace {

/// Jobs whose users ask for four times as long as such a job takes, in steps of ten minutes.
trace::Trace limited_log(std::size_t jobs) {
  trace::Trace made = testing_log(jobs);
  for (std::size_t at = 0; at < jobs; ++at) {
    trace::Job& job = made.jobs[at];
    job.request.time_limit = 600s * (1 + (4 * job.outcome.run) / 600s);
  }
  return made;
}

/// A model of such jobs in which `run_of` replaces each run time.
std::shared_ptr<const StoredModel> model_of(const std::function<Duration(Duration)>& run_of) {
  trace::Trace log = limited_log(1'000);
  for (trace::Job& job : log.jobs) job.outcome.run = run_of(job.outcome.run);
  Learned learned(log.names);
  teach(learned, log.jobs);
  return std::make_shared<const StoredModel>(
      StoredModel{.model = Model::fit(learned.examples().all(), {}),
                  .training = {.jobs = 1'000},
                  .history = learned.memory().ended_so_far()});
}

Duration same(Duration run) { return run; }
/// Short jobs for long ones, and long ones for short.
Duration reversed(Duration run) {
  return Duration{std::llround(2e7 / std::max(1.0, seconds(run)))};
}

/// What `proven` answers as `log` is used, by job.
std::vector<Proven::Opinions> answers(Proven& proven, const trace::Trace& log) {
  std::vector<Proven::Opinions> made;
  replay(
      log.jobs,
      [&](JobId job, const trace::Request& request) { made.push_back(proven.ask(job, request)); },
      [&](JobId job, const trace::Request& request, const Ended& ended) {
        proven.learn(job, request, ended);
      });
  return made;
}

TEST(Proven, AnswersWithoutHistory) {
  Names names;
  Proven proven(names);
  trace::Request asked;
  asked.gpus = 1;
  EXPECT_EQ(proven.ask(JobId{0}, asked).believed, Predictor::history);
  asked.time_limit = 1h;
  EXPECT_EQ(proven.ask(JobId{1}, asked).believed, Predictor::limit);
  const Belief belief = proven.estimate(JobId{2}, asked);
  EXPECT_GT(belief.run, 1min);
  EXPECT_LT(belief.run, 30min);
  EXPECT_EQ(belief.bound, 1h);
}

TEST(Proven, OrdersByTheMeanOfWhatIsCutAtTheLimit) {
  // One job in two takes 100 s; the other would take 10,000 s but for its limit of 1,000 s.
  Distribution said;
  said.add_cell(Distribution::cell_of(2), 0.5F);
  said.add_cell(Distribution::cell_of(3), 0.5F);
  const Belief limited = belief_of(said, 1000s);
  EXPECT_NEAR(seconds(limited.run), (100 + 1000) / 2, 0.05 * 550);
  EXPECT_EQ(limited.bound, 1000s);
  const Belief unlimited = belief_of(said, kNoDuration);
  EXPECT_EQ(unlimited.run, limited.run);
  EXPECT_NEAR(seconds(unlimited.bound), 1000, 100) << "nine in ten";
}

TEST(Proven, BelievesAModelThatOrdersBest) {
  // Limits that say nothing, and users and names that the tables have not seen.
  trace::Trace log = limited_log(400);
  for (trace::Job& job : log.jobs) job.request.time_limit = 24h;
  Proven proven(log.names, model_of(same));
  const auto made = answers(proven, log);
  const auto is_learned = [](const Proven::Opinions& each) {
    return each.believed == Predictor::learned;
  };
  EXPECT_GT(std::count_if(made.begin(), made.end(), is_learned), 100);
}

TEST(Proven, DoesNotBelieveAReversedModel) {
  const trace::Trace log = limited_log(1'000);
  Proven proven(log.names, model_of(reversed));
  const auto made = answers(proven, log);
  for (std::size_t at = 0; at < made.size(); ++at) {
    ASSERT_NE(made[at].believed, Predictor::learned) << "job " << at;
  }
  EXPECT_GT(proven.regret().of(Predictor::learned), 2 * proven.regret().of(Predictor::limit));
}

TEST(Proven, BelievesTheLeastRegret) {
  const trace::Trace log = limited_log(1'500);
  Proven proven(log.names, model_of(same));
  static_cast<void>(answers(proven, log));
  const auto regret = [&](Predictor of) { return proven.regret().of(of); };
  const Predictor believed = proven.ask(JobId{1'500}, log.jobs.back().request).believed;
  for (const Predictor each : {Predictor::limit, Predictor::history, Predictor::learned}) {
    EXPECT_LE(0.95 * regret(believed), regret(each)) << name_of(each);
  }
}

TEST(Proven, JudgesWithoutAModelWhatItIsTaught) {
  const trace::Trace log = limited_log(600);
  Proven proven(log.names);
  teach(proven, log.jobs);
  EXPECT_LT(proven.regret().of(Predictor::history), 0.3);
  EXPECT_LT(proven.regret().of(Predictor::limit), 0.3);
  EXPECT_EQ(proven.regret().of(Predictor::learned), std::numeric_limits<double>::infinity());
}

/// A log whose jobs have predictions: `predict` of the true run time.
trace::Trace predicted_log(const std::function<Duration(Duration)>& predict) {
  trace::Trace made = limited_log(1'000);
  for (trace::Job& job : made.jobs) job.request.predicted = predict(job.outcome.run);
  return made;
}

TEST(Proven, BelievesTruePredictionsOfTheLogFromTheFirstJobOn) {
  const trace::Trace log = predicted_log(same);
  Proven proven(log.names, nullptr, true);
  for (const Proven::Opinions& each : answers(proven, log)) {
    ASSERT_EQ(each.believed, Predictor::given);
  }
  const trace::Request& last = log.jobs.back().request;
  EXPECT_EQ(proven.estimate(JobId{1'000}, last).run, last.predicted);
}

TEST(Proven, BelievesNoPredictionOfTheLogBeyondTheLimit) {
  Names names;
  Proven proven(names, nullptr, true);
  trace::Request asked;
  asked.gpus = 1;
  asked.predicted = 3h;
  const Belief unlimited = proven.estimate(JobId{0}, asked);
  EXPECT_EQ(unlimited.run, 3h);
  EXPECT_EQ(unlimited.bound, kNoDuration) << "reservations use the prediction";
  asked.time_limit = 1h;
  const Belief longer = proven.estimate(JobId{1}, asked);
  EXPECT_EQ(longer.run, 1h);
  EXPECT_EQ(longer.bound, 1h);
  asked.predicted = 10min;
  const Belief shorter = proven.estimate(JobId{2}, asked);
  EXPECT_EQ(shorter.run, 10min);
  EXPECT_EQ(shorter.bound, 1h) << "the prediction may be too short";
}

TEST(Proven, SoonDropsReversedPredictionsOfTheLog) {
  const trace::Trace log = predicted_log(reversed);
  Proven proven(log.names, nullptr, true);
  const auto made = answers(proven, log);
  EXPECT_EQ(made.front().believed, Predictor::given) << "nothing has ended";
  for (std::size_t at = 200; at < made.size(); ++at) {
    ASSERT_NE(made[at].believed, Predictor::given) << "job " << at;
  }
}

TEST(Proven, IgnoresPredictionsOfTheLogByDefault) {
  const trace::Trace log = predicted_log(same);
  Proven proven(log.names);
  for (const Proven::Opinions& each : answers(proven, log)) {
    ASSERT_NE(each.believed, Predictor::given);
  }
}

RC_GTEST_PROP(Proven, NeverExpectsMoreThanTheLimit, ()) {
  trace::Trace log;
  const auto any = [](auto low, auto high) { return *rc::gen::inRange(low, high); };
  Proven proven(log.names);
  Time now{};
  for (std::uint32_t at = 0; at < 40; ++at) {
    trace::Request request;
    now += Duration{any(0, 100'000'000)};
    request.submit = now;
    request.gpus = any(1, 5000);
    request.user = log.names.intern(*rc::gen::arbitrary<std::string>());
    request.name = log.names.intern(*rc::gen::arbitrary<std::string>());
    if (any(0, 2) == 0) request.time_limit = Duration{any(1'000, 2'000'000'000)};
    const Belief belief = proven.estimate(JobId{at}, request);
    RC_ASSERT(belief.run >= 1s);
    RC_ASSERT(belief.run <= belief.bound);
    RC_ASSERT(std::abs(belief.distribution->total() - 1) < 1e-4);
    if (request.time_limit != kNoDuration) {
      RC_ASSERT(belief.bound == request.time_limit);
      const std::size_t last = Distribution::cell_of(log_time(request.time_limit));
      for (std::size_t cell = last + 1; cell < Distribution::kCells; ++cell) {
        RC_ASSERT(belief.distribution->mass(cell) == 0);
      }
    }
    const double log_run = log_time(belief.run);
    RC_ASSERT(log_run >= belief.distribution->quantile(0.01) - Distribution::kStep);
    RC_ASSERT(log_run <= belief.distribution->quantile(0.9999) + Distribution::kStep);
    proven.learn(JobId{at}, request,
                 {.at = now, .ran = Duration{any(0, 2'000'000'000)}, .state = {}});
  }
}

}  // namespace
}  // namespace almanac::predict
