// SPDX-License-Identifier: Apache-2.0
#include "experiment/fitted_failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/experiment.h"
#include "faults/model.h"

namespace almanac::experiment {
namespace {

trace::Trace log_with_failures(int node_failures) {
  trace::Trace log;
  for (int number = 0; number < 100; ++number) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = trace::JobKey{log.jobs.size()};
    job.request.submit = Time{number * 1h};
    job.request.gpus = 16;
    job.outcome.run = 24h;
    job.outcome.state =
        number < node_failures ? trace::JobState::node_fail : trace::JobState::completed;
  }
  return log;
}

TEST(FittedFailures, CountNodesAsTheLogOrTheGpusSay) {
  trace::Trace log = log_with_failures(0);
  log.jobs[1].request.nodes = 4;
  log.jobs[2].outcome.node_list = log.names.intern("g[1-3]");
  log.jobs[3].outcome.node_list = log.names.intern("g2");
  log.jobs[3].outcome.start = Time{5h};
  const auto runs = runs_of(log, cluster::uniform(8, 8));
  EXPECT_EQ(runs[0].nodes, 2);
  EXPECT_TRUE(runs[0].on.empty());
  EXPECT_EQ(runs[1].nodes, 4);
  EXPECT_EQ(runs[2].nodes, 3);
  EXPECT_EQ(runs[3].nodes, 1);
  EXPECT_TRUE(runs[2].on.empty()) << "no start";
  EXPECT_EQ(runs[3].on, std::vector<int>{0});
  EXPECT_EQ(runs[3].ended(), Time{29h});
}

TEST(FittedFailures, BecomeTheModelOfASimulation) {
  Experiment experiment;
  experiment.policies = {"fifo"};
  experiment.failures = kFitted;
  const auto made = prepare(experiment, log_with_failures(12), cluster::uniform(8, 8));
  ASSERT_TRUE(made) << to_string(made.error());
  // 12 in 100 days of two nodes.
  EXPECT_NEAR(made->failures->node_per_day(8), 0.06, 1e-9);
  EXPECT_EQ(made->failures->name, kFitted);
  EXPECT_THAT(
      made->notes,
      testing::Contains(testing::HasSubstr("nodes fail 60 per 1,000 node-days (95 %: 31 to 105)")));
  EXPECT_THAT(
      made->notes,
      testing::Contains(testing::HasSubstr("assumed every 1h 00m, as in failure model fitted")));
  const auto none = prepare(experiment, log_with_failures(0), cluster::uniform(8, 8));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::usage);
}

TEST(FittedFailures, SayWhyFailuresOfUsersAreNoModel) {
  // Jobs that their users made fail say nothing about the cluster.
  trace::Trace of_users = log_with_failures(0);
  for (trace::Job& job : of_users.jobs) job.outcome.state = trace::JobState::failed;
  const cluster::Cluster nodes = cluster::uniform(8, 8);
  const auto one_size = fitted_failures(of_users, nodes);
  ASSERT_FALSE(one_size);
  EXPECT_THAT(to_string(one_size.error()),
              testing::AllOf(testing::HasSubstr("all jobs have the same number of GPUs"),
                             testing::HasSubstr("The 100 FAILED jobs")));
  of_users.jobs[0].request.gpus = 1;
  of_users.jobs[0].outcome.run = 12h;  // fails more often per day than those of 16 GPUs
  const auto users = fitted_failures(of_users, nodes);
  ASSERT_FALSE(users);
  EXPECT_THAT(to_string(users.error()),
              testing::HasSubstr("jobs with more GPUs do not fail more often per day of running"));
}

}  // namespace
}  // namespace almanac::experiment
