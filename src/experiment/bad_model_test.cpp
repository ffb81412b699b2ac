// SPDX-License-Identifier: Apache-2.0

/// \file
/// A model of wrong run times costs the estimate `proven` next to nothing.
#include <functional>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "experiment/experiment.h"
#include "experiment/summary.h"
#include "predict/learned.h"
#include "predict/replay.h"
#include "predict/testing_log.h"

namespace almanac::experiment {
namespace {

trace::Trace log_with_limits(bool has_limits) {
  trace::Trace made = predict::testing_log(1'500);
  Rng rng(2);
  for (trace::Job& job : made.jobs) {
    job.id = made.key(fmt::format("{}", 1 + (&job - made.jobs.data())));
    if (!has_limits) continue;
    // One to eight times as long as the job runs, in steps of ten minutes.
    const Duration run = job.outcome.run;
    job.request.time_limit = 600s * (1 + (1 + static_cast<int>(rng.below(8))) * run / 600s);
  }
  return made;
}

/// A model trained on the log's jobs, with `run_of` in place of their run times.
std::shared_ptr<const predict::StoredModel> model_of(
    bool has_limits, const std::function<Duration(Duration)>& run_of) {
  trace::Trace log = log_with_limits(has_limits);
  for (trace::Job& job : log.jobs) job.outcome.run = run_of(job.outcome.run);
  predict::Learned learned(log.names);
  predict::teach(learned, log.jobs);
  return std::make_shared<const predict::StoredModel>(
      predict::StoredModel{.model = predict::Model::fit(learned.examples().all(), {}),
                           .training = {.jobs = static_cast<std::int64_t>(log.jobs.size())},
                           .history = learned.memory().ended_so_far()});
}

/// On 40 GPUs, nearly all of which the log keeps busy.
double mean_wait_s(bool has_limits, const std::string& policy,
                   std::shared_ptr<const predict::StoredModel> model = nullptr) {
  cluster::Cluster cluster;
  cluster.add_vc("a");
  cluster.add_nodes({.gpus = 8}, 5);
  Experiment experiment;
  experiment.policies = {policy};
  auto prepared = prepare(experiment, log_with_limits(has_limits), std::move(cluster));
  EXPECT_TRUE(prepared) << prepared.error().message;
  prepared->model = std::move(model);
  const auto schedule = simulate_run(*prepared, 0);
  EXPECT_TRUE(schedule) << schedule.error().message;
  return summarize(prepared->runs[0].composition, prepared->trace, *schedule, prepared->power)
      .avg_wait_s;
}

class BadModel : public testing::TestWithParam<bool> {};

TEST_P(BadModel, CostsAtMostATwentiethOverEasy) {
  const double easy = mean_wait_s(GetParam(), "easy");
  ASSERT_GT(easy, 60) << "jobs wait";
  Rng rng(3);
  const std::pair<const char*, std::function<Duration(Duration)>> models[] = {
      {"constant", [](Duration) { return Duration{1h}; }},
      {"random",
       [&](Duration) { return Duration{std::llround(1e3 * std::pow(10, 5 * rng.uniform()))}; }},
      {"reversed",
       [](Duration run) { return Duration{std::llround(2e7 / std::max(1.0, seconds(run)))}; }},
  };
  for (const auto& [name, run_of] : models) {
    const double wait =
        mean_wait_s(GetParam(), "easy+gpu_time+best_fit+proven", model_of(GetParam(), run_of));
    EXPECT_LE(wait, 1.05 * easy) << name;
    RecordProperty(name, std::to_string(wait / easy));
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, BadModel, testing::Bool());

}  // namespace
}  // namespace almanac::experiment
