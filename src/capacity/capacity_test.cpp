// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/document.h"
#include "support/temporary_folder.h"

namespace almanac::capacity {
namespace {

void add(trace::Trace& log, Duration submit, Duration run, int gpus, const char* user = "ann",
         const char* vc = "") {
  trace::Job& job = log.jobs.emplace_back();
  job.id = trace::JobKey{log.jobs.size()};
  job.request.submit = Time{submit};
  job.request.gpus = gpus;
  job.request.user = log.names.intern(user);
  job.request.vc = log.names.intern(vc);
  job.request.time_limit = run;
  job.outcome.run = run;
  job.outcome.state = trace::JobState::completed;
}

/// Two jobs of 8 GPUs for 2 h, a minute apart: on one node the second waits 1 h 59 m, on two none.
trace::Trace two_jobs() {
  trace::Trace log;
  add(log, 0h, 2h, 8);
  add(log, 1min, 2h, 8);
  return log;
}

experiment::Experiment under(std::vector<std::string> policies) {
  experiment::Experiment made;
  made.policies = std::move(policies);
  return made;
}

Plan planned(trace::Trace log, const cluster::Cluster& cluster, const std::string& goal,
             Question question = {}, const WhatIf& what_if = {.growth = 0},
             const experiment::Experiment& experiment = under({"easy"})) {
  const auto subject = prepare(experiment, std::move(log), cluster, what_if);
  EXPECT_TRUE(subject) << to_string(subject.error());
  question.goal = *parse_goal(goal);
  const auto made = plan(*subject, question);
  EXPECT_TRUE(made) << to_string(made.error());
  return *made;
}

TEST(Capacity, FindsThatTwoJobsNeedTwoNodes) {
  const Plan one = planned(two_jobs(), cluster::uniform(1, 8), "max wait < 1h");
  ASSERT_EQ(one.answers.size(), 1U);
  EXPECT_EQ(one.answers[0].value_today, 119 * 60);
  EXPECT_EQ(one.answers[0].nodes, 2);
  EXPECT_EQ(one.answers[0].gpus, 16);
  EXPECT_EQ(planned(two_jobs(), cluster::uniform(1, 8), "max wait < 2h").answers[0].nodes, 1);
  EXPECT_EQ(planned(two_jobs(), cluster::uniform(5, 8), "max wait < 1h").answers[0].nodes, 2);
  EXPECT_EQ(planned(two_jobs(), cluster::uniform(5, 8), "max wait < 2h").answers[0].nodes, 1);
}

TEST(Capacity, GrowsASiteUnderItsOwnSlurm) {
  const TemporaryFolder folder;
  experiment::Experiment asked;
  asked.trace = folder.write("log.csv",
                             "job_id,submit_s,run_s,gpus,user,state\n1,0,7200,8,ann,COMPLETED\n"
                             "2,60,7200,8,ann,COMPLETED\n");
  asked.cluster = folder.write("slurm.conf",
                               "ClusterName=c\nGresTypes=gpu\nSelectType=select/cons_tres\n"
                               "NodeName=n1 CPUs=16 RealMemory=64000 Gres=gpu:8\n"
                               "PartitionName=gpu Nodes=ALL Default=YES\n");
  const auto subject = load(asked, {.growth = 0});
  ASSERT_TRUE(subject) << to_string(subject.error());
  Question question;
  question.goal = *parse_goal("max wait < 1h");
  const auto made = plan(*subject, question);
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_THAT(made->policies, testing::ElementsAre("slurm", "almanac"));
  // On one node the second job waits for the first, 1 h 59 m; on two it waits for no job.
  EXPECT_GT(made->answers[0].value_today, 118 * 60);
  EXPECT_EQ(made->answers[0].nodes, 2);
  EXPECT_LT(made->answers[0].curve.back().value, 60);
}

// Today's Slurm decides whether the simulation matches, wherever it stands in the list.
TEST(Capacity, ComparesTheLogWithTheSlurmOfTheSite) {
  const TemporaryFolder folder;
  experiment::Experiment asked;
  asked.trace = folder.write("log.csv",
                             "job_id,submit_s,start_s,run_s,gpus,user,state\n"
                             "1,0,0,7200,8,ann,COMPLETED\n");
  asked.cluster = folder.write("slurm.conf",
                               "ClusterName=c\nGresTypes=gpu\nSelectType=select/cons_tres\n"
                               "NodeName=n1 CPUs=16 RealMemory=64000 Gres=gpu:8\n"
                               "PartitionName=gpu Nodes=ALL Default=YES\n");
  Question question;
  question.goal = *parse_goal("max wait < 1h");
  const auto judged_under = [&](std::vector<std::string> policies) {
    asked.policies = std::move(policies);
    const auto subject = load(asked, {.growth = 0});
    EXPECT_TRUE(subject) << to_string(subject.error());
    return plan(*subject, question)->match.value().policy;
  };
  EXPECT_EQ(judged_under({"almanac", "slurm"}), "slurm");
  EXPECT_EQ(judged_under({"almanac", "easy"}), "almanac");
}

// Slurm has one node, the cluster one for each GPU type, which would grow apart.
TEST(Capacity, GrowsNodesOfSeveralGpuTypesUnderPoliciesThatDoNotReadTheSite) {
  const TemporaryFolder folder;
  experiment::Experiment asked;
  asked.trace =
      folder.write("log.csv", "job_id,submit_s,run_s,gpus,user,state\n1,0,7200,4,ann,COMPLETED\n");
  asked.cluster = folder.write("slurm.conf",
                               "ClusterName=c\nGresTypes=gpu\nSelectType=select/cons_tres\n"
                               "NodeName=n[1-2] CPUs=16 RealMemory=64000 "
                               "Gres=gpu:a100:4,gpu:h100:4\n"
                               "PartitionName=gpu Nodes=ALL Default=YES\n");
  asked.policies = {"easy", "slurm"};
  const auto refused = load(asked, {.growth = 0});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("so policy slurm cannot simulate"));
  asked.policies = {"easy"};
  const auto taken = load(asked, {.growth = 0});
  EXPECT_TRUE(taken) << to_string(taken.error());
}

TEST(Capacity, SaysWhenNoSizeReachesTheGoal) {
  const Plan made = planned(two_jobs(), cluster::uniform(1, 8), "max completion < 1h");
  EXPECT_EQ(made.answers[0].nodes, std::nullopt);
  EXPECT_EQ(made.answers[0].curve.back().nodes, 16);
  EXPECT_THAT(made.findings[0], testing::HasSubstr("unknown whether the simulation matches"));
  EXPECT_THAT(made.findings[1], testing::StartsWith("Under easy, 16 nodes do not reach"));
}

TEST(Capacity, NeverGoesBelowWhatTheLargestJobNeeds) {
  trace::Trace log = two_jobs();
  add(log, 24h, 1h, 24);
  EXPECT_EQ(planned(std::move(log), cluster::uniform(6, 8), "max wait < 9h").answers[0].nodes, 3);
}

TEST(Capacity, CountsTheNodesThatAreLost) {
  const Plan made =
      planned(two_jobs(), cluster::uniform(2, 8), "max wait < 1h", {}, {.growth = 0, .lose = 1});
  ASSERT_EQ(made.answers.size(), 2U);
  EXPECT_EQ(made.answers[0].nodes, 2);
  EXPECT_EQ(made.answers[1].scenario, "without 1 node");
  EXPECT_EQ(made.answers[1].value_today, 119 * 60) << "one node is left";
  EXPECT_EQ(made.answers[1].nodes, 3);
}

TEST(Capacity, LosesTheLargestRack) {
  cluster::Cluster racks;
  racks.takes_every_job = true;
  racks.add_vc("all");
  racks.add_nodes({.gpus = 8}, 1, {}, "r1");
  racks.add_nodes({.gpus = 8}, 2, {}, "r2");
  const Plan made = planned(two_jobs(), racks, "max wait < 1h", {}, {.growth = 0});
  ASSERT_EQ(made.answers.size(), 2U);
  EXPECT_EQ(made.answers[1].scenario, "without rack r2");
  EXPECT_EQ(made.answers[1].value_today, 119 * 60);
  EXPECT_EQ(made.answers[1].nodes, 4);
}

TEST(Capacity, GivesEachPartitionItsOwnSize) {
  const auto log = [] {
    trace::Trace made;
    for (int job = 0; job < 3; ++job) add(made, 1min * job, 2h, 8, "ann", "a");
    add(made, 3min, 2h, 8, "bob", "b");
    return made;
  };
  cluster::Cluster cluster;
  for (const char* const name : {"a", "b"}) {
    cluster.add_vc(name);
    cluster.add_nodes({.gpus = 8, .gpu_type = name}, 2);
  }
  const Plan each = planned(log(), cluster, "max wait < 1h",
                            {.by_partition = true, .prices = *parse_prices("a=1,b=2")});
  ASSERT_EQ(each.answers.size(), 2U);
  EXPECT_EQ(each.answers[0].partition, "a");
  EXPECT_EQ(each.answers[0].nodes, 3);
  EXPECT_EQ(each.answers[0].month_cost, 24 * 730);
  EXPECT_EQ(each.answers[1].partition, "b");
  EXPECT_EQ(each.answers[1].nodes, 1);
  EXPECT_EQ(each.answers[1].month_cost, 8 * 2 * 730);

  const Plan together = planned(log(), cluster, "max wait < 1h");
  ASSERT_EQ(together.answers.size(), 1U);
  EXPECT_EQ(together.answers[0].nodes, 5) << "3 in a and 2 in b";
}

/// Each day four jobs of 8 GPUs that differ in length and user.
trace::Trace busy_days(int days) {
  trace::Trace log;
  for (int day = 0; day < days; ++day) {
    add(log, 24h * day, 9h, 8, "ann");
    add(log, 24h * day + 1min, 1h, 8, "bob");
    add(log, 24h * day + 2min, 1h, 8, "eve");
    add(log, 24h * day + 3min, 1h, 8, "joe");
  }
  return log;
}

TEST(Capacity, IsTheSameForAnyNumberOfThreads) {
  const auto curves = [](int threads) {
    const Plan made =
        planned(busy_days(20), cluster::uniform(2, 8), "mean wait < 30m", {.threads = threads},
                {.growth = 0.2, .lose = 1}, under({"easy", "almanac"}));
    std::string all;
    for (const Answer& answer : made.answers) {
      all += answer.scenario + answer.policy + ":";
      for (const Point& point : answer.curve)
        all += fmt::format("{}={},", point.nodes, point.value);
    }
    return all;
  };
  EXPECT_EQ(curves(1), curves(3));
}

TEST(Capacity, LeavesOutATenthOfALongLogAndSaysSo) {
  const Plan made = planned(busy_days(20), cluster::uniform(1, 8), "mean wait < 30m");
  EXPECT_EQ(made.jobs, 72) << "of 80";
  EXPECT_THAT(made.assumptions[0], testing::HasSubstr("of the first 1d"));
  const Plan short_log = planned(busy_days(3), cluster::uniform(1, 8), "mean wait < 30m");
  EXPECT_EQ(short_log.jobs, 12);
  EXPECT_THAT(short_log.cautions, testing::Contains(testing::HasSubstr("the log covers 2.0 days")));
}

TEST(Capacity, ComparesRecordedWaitsWithSimulatedOnes) {
  const auto with_second_start = [](Duration start) {
    trace::Trace log = two_jobs();
    log.jobs[0].outcome.start = Time{0h};
    log.jobs[1].outcome.start = Time{start};
    return planned(std::move(log), cluster::uniform(1, 8), "max wait < 1h");
  };
  const Plan like = with_second_start(2h);
  ASSERT_TRUE(like.match);
  EXPECT_EQ(like.match->share, 1);
  EXPECT_TRUE(like.match->is_close());
  EXPECT_THAT(like.findings[0], testing::StartsWith("The simulation matches your cluster: "));
  const Plan unlike = with_second_start(9h);
  EXPECT_EQ(unlike.match->share, 0.5);
  EXPECT_EQ(unlike.findings[0],
            "No recommendation: the simulation does not match your cluster. Simulated under easy "
            "with today's nodes, 50 % of the jobs start within 10 minutes of their recorded start "
            "(mean wait 59m 30s, recorded 4h 29m; p99 1h 57m, recorded 8h 53m). The figures below "
            "describe the model only.");
}

TEST(Capacity, CountsAJobThatNeverEndsAsOneInfiniteWait) {
  const TemporaryFolder folder;
  std::string log = "job_id,submit_s,run_s,gpus,nodes,user,state\n";
  for (int job = 1; job <= 20; ++job) {
    // The partition accepts no job of two nodes, so the fifth never starts.
    log += fmt::format("{},{},600,{},ann,COMPLETED\n", job, 3600 * job, job == 5 ? "16,2" : "8,1");
  }
  experiment::Experiment asked;
  asked.trace = folder.write("log.csv", log);
  asked.cluster = folder.write("slurm.conf",
                               "ClusterName=c\nGresTypes=gpu\nSelectType=select/cons_tres\n"
                               "NodeName=n[1-2] CPUs=16 RealMemory=64000 Gres=gpu:8\n"
                               "PartitionName=gpu Nodes=ALL Default=YES MaxNodes=1\n");
  asked.policies = {"slurm"};
  const auto subject = load(asked, {.growth = 0});
  ASSERT_TRUE(subject) << to_string(subject.error());
  const auto under = [&](const char* goal) {
    Question question;
    question.goal = *parse_goal(goal);
    return *plan(*subject, question);
  };
  const Plan most = under("p90 wait < 1m");
  EXPECT_EQ(most.answers[0].never_today, 1);
  EXPECT_LT(most.answers[0].value_today, 60) << "19 of 20 jobs end";
  EXPECT_EQ(most.answers[0].nodes, 2);
  EXPECT_THAT(most.cautions, testing::Contains(testing::HasSubstr("1 job never ends under slurm")));
  const Plan all = under("max wait < 1m");
  EXPECT_EQ(all.goal.shown(all.answers[0].value_today), "never");
  EXPECT_EQ(all.answers[0].nodes, std::nullopt);
}

TEST(Capacity, CountsAllWaitsOfARequeuedJob) {
  // The second job ran for 1 h in two runs, started at once, and ended 4 h after its submission.
  trace::Trace log;
  add(log, 0h, 1h, 8);
  add(log, 24h, 1h, 8);
  for (trace::Job& job : log.jobs) job.outcome.start = job.request.submit;
  log.jobs[0].outcome.end = Time{1h};
  log.jobs[1].outcome.end = Time{28h};
  const Plan made = planned(std::move(log), cluster::uniform(1, 8), "max wait < 1h");
  ASSERT_TRUE(made.match);
  EXPECT_EQ(made.match->recorded.mean_s, 5400) << "0 h and 3 h";
  EXPECT_FALSE(made.match->is_close());
}

TEST(Capacity, SaysThatALogWithoutWaitsIsLittleEvidence) {
  trace::Trace log;
  add(log, 0h, 1h, 8);
  log.jobs[0].outcome.start = Time{0h};
  const Plan made = planned(std::move(log), cluster::uniform(1, 8), "max wait < 1h");
  EXPECT_THAT(made.findings[0], testing::StartsWith("The simulation matches the log: "));
  EXPECT_THAT(made.findings[0],
              testing::EndsWith("This says little: no job waited longer than 10 minutes."));
}

TEST(Capacity, RefusesAPriceOfGpusForALogWithoutGpus) {
  trace::Trace log;
  add(log, 0h, 1h, 0);
  cluster::Cluster cores = cluster::uniform(1, 8);
  cores.classes[0].cpus = 16;
  const auto subject = prepare(under({"easy"}), std::move(log), cores, {.growth = 0});
  ASSERT_TRUE(subject) << to_string(subject.error());
  const auto made =
      plan(*subject, {.goal = *parse_goal("max wait < 1h"), .prices = *parse_prices("2")});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::usage);
}

TEST(Capacity, RefusesPricesThatDoNotCoverTheCluster) {
  EXPECT_FALSE(parse_prices("V100=x"));
  const auto subject = prepare(under({"easy"}), two_jobs(), cluster::uniform(1, 8), {.growth = 0});
  ASSERT_TRUE(subject);
  const auto made =
      plan(*subject, {.goal = *parse_goal("max wait < 1h"), .prices = *parse_prices("A100=2")});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::usage);
}

TEST(Capacity, ReportsTheCurveFirst) {
  const auto subject = prepare(under({"easy"}), two_jobs(), cluster::uniform(1, 8), {.growth = 0});
  ASSERT_TRUE(subject);
  const auto made = plan(*subject, {.goal = *parse_goal("max wait < 1h")});
  ASSERT_TRUE(made);
  const figure::Document page = document(*subject, *made, {"almanac", "capacity"});
  ASSERT_EQ(page.sections.size(), 2U);
  EXPECT_TRUE(page.sections[0].leads);
  EXPECT_EQ(page.sections[0].figures[0].rows(), made->answers[0].curve.size());
  EXPECT_EQ(page.tiles[0].value, "2");
}

}  // namespace
}  // namespace almanac::capacity
