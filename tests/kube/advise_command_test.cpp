// SPDX-License-Identifier: Apache-2.0

/// \file
/// Advice on quotas and on an order under Kueue, with waits that a reader can add up.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "objects.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace almanac::kube {
namespace {

using testing::HasSubstr;

/// Each midnight of 30 days two jobs of 4 GPUs and six hours, and a minute later one of an hour.
/// The queue has 4 of the 8 GPUs: waits of 0, 6 h and 11 h 59 m.
class AdviseKueueCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string log = "job_id,submit_s,run_s,gpus,vc,user,name\n";
    for (int day = 0; day < 30; ++day) {
      const int midnight = day * 86400;
      log += fmt::format("{0}a,{1},21600,4,team-a,ann,long\n{0}b,{1},21600,4,team-a,ann,long\n",
                         day, midnight);
      log += fmt::format("{}c,{},3600,4,team-a,bob,short\n", day, midnight + 60);
    }
    log_ = folder_.write("jobs.csv", log);
    write_queues(Json::object());
  }
  void write_queues(const Json& preemption) {
    Json default_flavor = flavor("default");
    default_flavor.update({{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "ResourceFlavor"}});
    Json queue = cluster_queue("team-a", 4);
    queue.update({{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "ClusterQueue"}});
    queue["spec"]["preemption"] = preemption;
    queues_ = folder_.write("queues.json", Json{{"items", {default_flavor, queue}}}.dump());
  }
  ProgramRun advise(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"advise", log_, "--cluster", "2x4", "--queues", queues_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  static double wait_of(const Json& figures) { return figures["avg_wait_s"]; }

  TemporaryFolder folder_;
  std::string log_;
  std::string queues_;
};

TEST_F(AdviseKueueCommand, SaysWhatAQuotaWouldDo) {
  const ProgramRun done = advise({"--what-if", "team-a.nominalQuota=8", "-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const Json advice = Json::parse(done.out);
  EXPECT_NEAR(wait_of(advice["today"]), (0 + 21600 + 43140) / 3.0, 1);
  ASSERT_EQ(advice["variants"].size(), 4);
  EXPECT_EQ(advice["variants"][0]["name"], "with the change");
  EXPECT_NEAR(wait_of(advice["variants"][0]["figures"]), (0 + 0 + 21540) / 3.0, 1);
  EXPECT_EQ(advice["changed"][0]["from"], "4");
  const Json& gain = advice["variants"][0]["wait_shorter"];
  EXPECT_NEAR(gain["times"].get<double>(), (21600 + 43140) / 21540.0, 0.05);
  EXPECT_LE(gain["from"], gain["times"]);
  const ProgramRun text = advise({"--what-if", "team-a.nominalQuota=8"});
  EXPECT_THAT(text.out, HasSubstr("Change: ClusterQueue team-a: nominalQuota of nvidia.com/gpu in "
                                  "flavor default 4 -> 8"));
  EXPECT_THAT(text.out, HasSubstr("kubectl edit ClusterQueue team-a"));
}

// The short job goes second: waits of 0, 5 h 59 m and 7 h. Without the queue all GPUs are free.
TEST_F(AdviseKueueCommand, SaysWhatAnOrderWouldBring) {
  const ProgramRun done = advise({"-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const Json advice = Json::parse(done.out);
  ASSERT_EQ(advice["variants"].size(), 3);
  EXPECT_EQ(advice["variants"][0]["name"], "Almanac's order");
  EXPECT_NEAR(wait_of(advice["variants"][0]["figures"]), (0 + 21540 + 25200) / 3.0, 1);
  EXPECT_EQ(advice["variants"][1]["name"], "Almanac's backfill mode");
  EXPECT_NEAR(wait_of(advice["variants"][1]["figures"]), (0 + 21540 + 25200) / 3.0, 1);
  EXPECT_EQ(advice["variants"][2]["name"], "almanac without Kueue");
  EXPECT_NEAR(wait_of(advice["variants"][2]["figures"]), 21540 / 3.0, 1);
}

TEST_F(AdviseKueueCommand, TriesNoOrderThatCouldEvict) {
  write_queues({{"withinClusterQueue", "LowerPriority"}});
  const ProgramRun done = advise({});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("No order in queue team-a: a rank could evict running workloads: "
                                  "withinClusterQueue preempts in queue team-a."));
  EXPECT_THAT(done.out, testing::Not(HasSubstr("Almanac's order  ")));
}

// Every job is recorded to have started at once, which these queues do not allow.
TEST_F(AdviseKueueCommand, RecommendsNothingWhereTheSimulationDoesNotMatch) {
  std::string log = "job_id,submit_s,start_s,run_s,gpus,vc,user,name\n";
  for (int day = 0; day < 30; ++day) {
    for (const char job : {'a', 'b', 'c'}) {
      log += fmt::format("{0}{1},{2},{2},21600,4,team-a,ann,long\n", day, job, day * 86400);
    }
  }
  log_ = folder_.write("other.csv", log);
  const ProgramRun done = advise({"--what-if", "team-a.nominalQuota=8"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out,
              testing::StartsWith("No recommendation: the simulation does not match your "
                                  "cluster. Mean wait: 0.0s recorded, 6h 00m simulated."));
  EXPECT_THAT(done.out, testing::Not(HasSubstr("kubectl edit")));
}

// The wide job of each day does not fit a quota of 3. Of 30 days the first week is not compared.
TEST_F(AdviseKueueCommand, SaysFirstWhichJobsWouldNeverStart) {
  std::string jobs = "job_id,submit_s,run_s,gpus,vc,user,name\n";
  for (int day = 0; day < 30; ++day) {
    jobs += fmt::format("{0}a,{1},3600,4,team-a,ann,wide\n{0}b,{1},3600,2,team-a,bob,narrow\n", day,
                        day * 86400);
  }
  log_ = folder_.write("other.csv", jobs);
  const ProgramRun done = advise({"--what-if", "team-a.nominalQuota=3"});
  EXPECT_EQ(done.status, 0) << done.err;
  const std::size_t said =
      done.out.find("with the change: 23 jobs that start today would never start");
  ASSERT_NE(said, std::string::npos) << done.out;
  EXPECT_LT(said, done.out.find("MEAN WAIT"));
  EXPECT_THAT(done.out, HasSubstr("NEVER START"));
}

// Weights count only under fair sharing, and the queue shares with no other.
TEST_F(AdviseKueueCommand, SaysThatAChangeHasNoEffect) {
  const ProgramRun done = advise({"--what-if", "team-a.weight=2"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("The change has no effect on these jobs"));
  EXPECT_THAT(done.out, testing::Not(HasSubstr("kubectl edit")));
  EXPECT_THAT(done.err, HasSubstr("weights count only under fair sharing"));
}

TEST_F(AdviseKueueCommand, SaysThatALogWithoutStartsProvesNothing) {
  const Json advice = Json::parse(advise({"-o", "json"}).out);
  EXPECT_TRUE(advice["recorded"].is_null());
  EXPECT_TRUE(advice["reproduces"].is_null());
  EXPECT_THAT(advise({}).out, testing::StartsWith("The log does not say when jobs started"));
}

// The jobs held at most 4 GPUs, so 4 are inferred. The queue may use 16.
TEST_F(AdviseKueueCommand, SaysThatInferredNodesHaveFewerGpusThanTheQuotas) {
  Json default_flavor = flavor("default");
  default_flavor.update({{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "ResourceFlavor"}});
  Json queue = cluster_queue("team-a", 16);
  queue.update({{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "ClusterQueue"}});
  const std::string large =
      folder_.write("large.json", Json{{"items", {default_flavor, queue}}}.dump());
  std::string log = "job_id,submit_s,start_s,run_s,gpus,vc,user,name\n";
  for (int day = 0; day < 30; ++day) {
    log += fmt::format("{0},{1},{1},21600,4,team-a,ann,long\n", day, day * 86400);
  }
  const std::string path = folder_.write("started.csv", log);
  const ProgramRun done = run_program({"advise", path, "--queues", large});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("inferred from the log and have 4 GPUs, but the quotas of all "
                                  "queues add up to 16"));
}

TEST_F(AdviseKueueCommand, RefusesPoliciesBeforeItReadsTheLog) {
  const ProgramRun done =
      run_program({"advise", "missing.csv", "--queues", queues_, "--policy", "easy"});
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("--queues compares quotas and an order, not policies"));
}

TEST_F(AdviseKueueCommand, RefusesWhatItCannotCompare) {
  EXPECT_THAT(advise({"--what-if", "team-b.nominalQuota=8"}).err,
              HasSubstr("no ClusterQueue or Cohort is called \"team-b\" (known: team-a)"));
  EXPECT_EQ(advise({"--what-if", "team-b.nominalQuota=8"}).status, 2);
  EXPECT_EQ(advise({"--policy", "easy"}).status, 2);
}

}  // namespace
}  // namespace almanac::kube
