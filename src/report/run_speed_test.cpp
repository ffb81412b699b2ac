// SPDX-License-Identifier: Apache-2.0
#include "report/run_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/run_document.h"
#include "report/run_speed_findings.h"

namespace almanac::report {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

trace::Job job_of(trace::Trace& trace, int gpus, float cpus, const char* model) {
  trace::Job job;
  job.id = trace.key(std::to_string(trace.jobs.size() + 1));
  job.request.gpus = gpus;
  job.request.cpus = cpus;
  job.request.model = trace.names.intern(model);
  job.outcome.run = 100s;
  return job;
}

experiment::Prepared prepared(const std::string& speed, trace::Trace trace,
                              cluster::Cluster cluster) {
  experiment::Experiment experiment;
  experiment.trace = "log.csv";
  experiment.policies = {"fifo"};
  experiment.speed = speed;
  auto made = experiment::prepare(experiment, std::move(trace), std::move(cluster));
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

/// Two GPU jobs of two models, two CPU jobs; on a node with room for all.
experiment::Prepared prepared(const std::string& speed) {
  trace::Trace trace;
  trace.jobs.push_back(job_of(trace, 4, 8, "bert"));
  trace.jobs.push_back(job_of(trace, 1, 3, "vae"));
  trace.jobs.push_back(job_of(trace, 0, 4, ""));
  trace.jobs.push_back(job_of(trace, 0, 6, ""));
  cluster::Cluster cluster;
  cluster.add_vc("a");
  cluster.add_nodes({.gpus = 8, .cpus = 48}, 1);
  return prepared(speed, std::move(trace), std::move(cluster));
}

/// What a run tells that was simulated, but for the rates, which are `rates`.
PolicyDigest digest_with(const RunInput& input, const Rates* rates = nullptr) {
  const auto schedule = experiment::simulate_run(input.prepared(), 0);
  PolicyDigest made = digest(
      input, DigestPlan(input),
      experiment::summarize({.name = "fifo"}, input.trace(), *schedule, input.prepared().power),
      *schedule);
  if (rates != nullptr) made.rates = *rates;
  return made;
}

/// Job 1 held 4 GPUs for 100 s: half of it lost to cores, a fifth of the rest to bandwidth. Job 2
/// held one GPU for 200 s and lost nothing. Job 3 ran for 40 s, 30 s of it with one of four cores;
/// job 4 was stopped twice.
Rates by_hand() {
  const sim::MeanPace slow{.ran_s = 100,
                           .rate = 0.4,
                           .parts = {.cpus = 0.5, .computing = 0.4},
                           .bandwidth = 0.8,
                           .cpus = 8};
  const sim::MeanPace full{.ran_s = 200, .rate = 1, .cpus = 3};
  Rates made;
  made.by_model.resize(2);
  made.all.add(4, slow);
  made.all.add(1, full);
  made.by_model[0].add(4, slow);
  made.by_model[1].add(1, full);
  made.percentiles.assign(100, 0.7);
  made.slowed = {{.job = 0, .pace = slow, .lost_s = 240}};
  made.cpu = {.jobs = 2, .throttled = 1, .throttled_s = 30, .cut_s = 90, .stopped = 1, .stops = 2};
  made.gave_way = {
      {.job = 2,
       .pace = {.ran_s = 40, .rate = 0.4375, .cpus = 1.75, .throttled_s = 30, .cut_cpu_s = 90},
       .lost_s = 90},
      {.job = 3, .stops = 2}};
  return made;
}

const figure::Figure& named(const std::vector<figure::Figure>& figures, const std::string& id) {
  for (const figure::Figure& figure : figures) {
    if (figure.id == id) return figure;
  }
  throw std::out_of_range(id);
}

TEST(RunSpeed, SharesOutWhatWasLost) {
  const experiment::Prepared run = prepared("public");
  const RunInput input(run);
  const Rates rates = by_hand();
  const auto figures = draw_speed(input, {digest_with(input, &rates)});
  // 600 s of GPU time held: 400 lose 200 to cores and 40 to bandwidth.
  const figure::Figure& causes = named(figures, "run_held_back");
  EXPECT_THAT(causes["held_gpu_s"].numbers, ElementsAre(600));
  EXPECT_THAT(causes["mean_rate"].numbers, ElementsAre(0.6));
  EXPECT_THAT(causes["gpu_use"].numbers, ElementsAre(0.6));
  EXPECT_THAT(causes["lost_to_cores"].numbers, ElementsAre(DoubleNear(1 / 3.0, 1e-4)));
  EXPECT_THAT(causes["lost_to_bandwidth"].numbers, ElementsAre(DoubleNear(1 / 15.0, 1e-4)));
  ASSERT_THAT(causes.charts, SizeIs(2));
  EXPECT_THAT(causes.charts[1].y, ElementsAre("lost_to_cores", "lost_to_bandwidth"));
  const figure::Figure& models = named(figures, "run_models");
  EXPECT_THAT(models["model"].texts, ElementsAre("bert", "vae")) << "most GPU time first";
  EXPECT_THAT(models["mean_rate"].numbers, ElementsAre(0.4, 1));
  EXPECT_THAT(models["cpus_per_gpu"].numbers, ElementsAre(2, 3));
  const figure::Figure& slowed = named(figures, "run_slowed");
  EXPECT_THAT(slowed["job_id"].texts, ElementsAre("1"));
  EXPECT_THAT(slowed["why"].texts, ElementsAre("ran at 0.40: cores 0.50, bandwidth 0.80"));
  EXPECT_THAT(slowed["lost_gpu_s"].numbers, ElementsAre(240));
}

TEST(RunSpeed, NamesWhoGaveWay) {
  const experiment::Prepared run = prepared("public");
  const RunInput input(run);
  const Rates rates = by_hand();
  const std::vector<PolicyDigest> policies = {digest_with(input, &rates)};
  const auto figures = draw_speed(input, policies);
  const figure::Figure& jobs = named(figures, "run_gave_way");
  EXPECT_THAT(jobs["job_id"].texts, ElementsAre("3", "4"));
  EXPECT_THAT(jobs["throttled_s"].numbers, ElementsAre(30, 0));
  EXPECT_THAT(jobs["cut_cpu_s"].numbers, ElementsAre(90, 0));
  EXPECT_THAT(jobs["stops"].numbers, ElementsAre(0, 2));
  EXPECT_THAT(named(figures, "run_cpu_jobs")["throttled"].numbers, ElementsAre(1));
  std::string words;
  for (const figure::Finding& finding : speed_findings(policies, 0)) {
    words += finding.headline + " " + finding.detail + "\n";
  }
  EXPECT_THAT(words, HasSubstr("fifo throttles 1 of 2 CPU jobs for 30s on average, and evicts 1."));
  EXPECT_THAT(words, HasSubstr("Under fifo GPU jobs run at 0.60 of their recorded speed."));
  EXPECT_THAT(words,
              HasSubstr("The largest loss of allocated GPU time is to cores: 33 % under fifo."));
}

TEST(RunSpeed, TakesRatesFromTheSchedule) {
  const experiment::Prepared run = prepared("public");
  const RunInput input(run);
  const PolicyDigest made = digest_with(input);
  EXPECT_EQ(made.rates.all.jobs, 2);
  EXPECT_NEAR(made.rates.all.held_s, 4 * 100 + 100, 1e-6) << "all run as recorded";
  EXPECT_NEAR(made.rates.all.done_s, made.rates.all.held_s, 1e-3);
  EXPECT_THAT(made.rates.percentiles, SizeIs(100));
  EXPECT_THAT(made.rates.slowed, IsEmpty());
  EXPECT_EQ(made.rates.cpu.jobs, 2);
  EXPECT_EQ(made.rates.cpu.throttled, 0);
  EXPECT_THAT(made.rates.gave_way, IsEmpty());
}

TEST(RunSpeed, TakesSlownessForNoRestart) {
  trace::Trace trace;
  trace.jobs.push_back(job_of(trace, 2, 2, "alexnet"));
  trace.jobs[0].outcome.reference_cpus = 20;
  cluster::Cluster cluster;
  cluster.add_vc("a");
  cluster.add_nodes({.gpus = 8, .cpus = 48}, 1);
  const experiment::Prepared run = prepared("public", std::move(trace), std::move(cluster));
  const PolicyDigest made = digest_with(RunInput(run));
  EXPECT_LT(made.rates.all.done_s, 0.5 * made.rates.all.held_s);
  EXPECT_DOUBLE_EQ(made.restart_gpu_s, 0);
}

TEST(RunSpeed, DrawsNothingThatIsNotSimulated) {
  const experiment::Prepared run = prepared("");
  const RunInput input(run);
  const auto figures = draw_speed(input, {digest_with(input)});
  ASSERT_THAT(figures, SizeIs(1)) << "CPU jobs are simulated, speeds are not";
  EXPECT_EQ(figures[0].id, "run_cpu_jobs");
  EXPECT_THROW(static_cast<void>(named(figures, "run_rates")), std::out_of_range);
}

}  // namespace
}  // namespace almanac::report
