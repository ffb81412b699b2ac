// SPDX-License-Identifier: Apache-2.0
#include "experiment/deadlines.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/read_toml.h"
#include "perf/catalogue_file.h"
#include "schedule/speed_book.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::experiment {
namespace {

perf::Catalogue genie() { return perf::read_catalogue("genie").value(); }

trace::Trace log_of(std::initializer_list<std::int32_t> gpus) {
  trace::Trace trace;
  for (const std::int32_t count : gpus) {
    trace::Job job;
    job.id = trace::JobKey{trace.jobs.size() + 1};
    job.request.submit = Time(1000s);
    job.request.gpus = count;
    job.outcome.run = 3600s;
    trace.jobs.push_back(job);
  }
  return trace;
}

TEST(Deadlines, LeaveArrivalsGpusAndRunTimesAsTheyAre) {
  trace::Trace trace = log_of({1, 8, 0, 512});
  const DrawnDeadlines done = draw_deadlines(trace, genie(), {}).value();
  EXPECT_EQ(done.jobs, 3);
  EXPECT_EQ(done.drawn, 3);
  const std::int32_t wanted[] = {1, 8, 0, 512};
  for (std::size_t at = 0; at < 4; ++at) {
    const trace::Request& request = trace.jobs[at].request;
    EXPECT_EQ(request.gpus, wanted[at]);
    EXPECT_EQ(request.submit, Time(1000s));
    EXPECT_EQ(trace.jobs[at].outcome.run, 3600s);
    if (request.gpus == 0) continue;
    EXPECT_GE(request.batch, request.gpus);
    EXPECT_GE(request.max_gpus, request.gpus);
    EXPECT_GE(request.steps, 1);
  }
  EXPECT_EQ(trace.jobs[2].request.deadline, kNoTime);
}

TEST(Deadlines, CountFromTheRunTimeOnOneGpu) {
  trace::Trace trace = log_of({4});
  trace::Request& request = trace.jobs[0].request;
  request.model = trace.names.intern("inception-v3");
  request.batch = 64;
  DeadlineOptions options;
  options.mix = {.urgent = 0, .prior = 1, .normal = 0};
  const perf::Catalogue catalogue = genie();
  EXPECT_EQ(draw_deadlines(trace, catalogue, options).value().drawn, 0);
  const perf::GenieRate& rate = catalogue.find("inception-v3")->training->rate;
  const perf::GenieTask task{.rate = &rate,
                             .batch = 64,
                             .steps = static_cast<double>(request.steps),
                             .startup_s = catalogue.startup_s};
  EXPECT_NEAR(task.latency_s({1, 4}), 3600, 1);  // steps are whole
  EXPECT_NEAR(seconds(request.deadline - request.submit), task.latency_s({1, 1}), 1);
}

TEST(Deadlines, KeepWhatTheLogTells) {
  trace::Trace trace = log_of({2});
  trace::Request& request = trace.jobs[0].request;
  request.name = trace.names.intern("train_ResNet50_v2");
  request.batch = 48;
  request.steps = 123;
  request.max_gpus = 6;
  EXPECT_EQ(draw_deadlines(trace, genie(), {}).value().drawn, 0);
  EXPECT_EQ(request.batch, 48);
  EXPECT_EQ(request.steps, 123);
  EXPECT_EQ(request.max_gpus, 6);
  EXPECT_EQ(request.model, kNoName);
}

TEST(Deadlines, NeedAModelAndAClass) {
  trace::Trace trace = log_of({1});
  const auto no_model = draw_deadlines(trace, perf::read_catalogue("public").value(), {});
  EXPECT_THAT(to_string(no_model.error()),
              testing::HasSubstr("contain no training or inference model"));
  EXPECT_FALSE(draw_deadlines(trace, genie(), {.mix = {}}));
}

// presets/genie.toml repeats what presets/perf/genie.toml says of steps: the generator is below the
// speed models.
TEST(Presets, OfGenieAgreeOnHowLongATaskRuns) {
  const auto workload = trace::parse_workload(*trace::preset("genie"), "genie.toml").value();
  const trace::Trace trace = trace::generate(workload, 1);
  const auto cluster =
      cluster::parse_toml(*trace::preset("genie_cluster"), "genie_cluster.toml").value();
  const schedule::SpeedBook book(cluster, trace, genie());
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const JobId job{static_cast<std::uint32_t>(at)};
    ASSERT_NE(book.task(job), nullptr);
    const double run_s = seconds(trace.jobs[at].outcome.run);
    EXPECT_NEAR(book.task(job)->latency_s({1, 1}) / run_s, 1, 1e-4);
    EXPECT_DOUBLE_EQ(book.rate(job, 1, 1), 1);
    EXPECT_DOUBLE_EQ(book.rate(job, 2, 4),
                     book.task(job)->latency_s({1, 1}) / book.task(job)->latency_s({2, 4}));
  }
}

}  // namespace
}  // namespace almanac::experiment
