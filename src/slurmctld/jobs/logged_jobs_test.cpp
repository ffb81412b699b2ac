// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/jobs/logged_jobs.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurmctld/eight_nodes_test.h"

namespace almanac::slurmctld {
namespace {

using testing::ElementsAre;

class LoggedJobsTest : public testing::Test {
 protected:
  LoggedJobsTest() {
    site_.partitions.push_back({.name = "a100", .nodes = {0, 1, 2, 3}});
    site_.qos = {{.name = "normal"}, {.name = "high"}};
    site_.associations = {
        {.account = "root"},
        {.account = "lab", .parent = 0},
        {.account = "lab", .user = "ann", .parent = 1, .default_qos = "high", .is_default = true}};
    table_ = make_node_table(site_);
  }

  /// A job on 2 nodes with 8 GPUs, 16 CPUs and 32 GiB.
  trace::Request request(const std::string& line) {
    trace::Request made;
    made.gpus = 8;
    made.nodes = 2;
    made.cpus = 16;
    made.memory_gb = 32;
    made.user = trace_.names.intern("ann");
    made.account = trace_.names.intern("lab");
    made.partition = trace_.names.intern("main");
    made.submit_line = trace_.names.intern(line);
    return made;
  }
  Job translate(const trace::Request& request) {
    jobs_.emplace(site_, table_, trace_.names);
    return jobs_->translate(request);
  }

  site::Site site_ = eight_nodes();
  NodeTable table_;
  trace::Trace trace_;
  std::optional<LoggedJobs> jobs_;
};

TEST_F(LoggedJobsTest, RequestsWhatASubmitLineSaysIfTheJobGotThat) {
  const Job job = translate(request("sbatch -p a100 -N2 --ntasks-per-node=8 --gres=gpu:a100:4 x"));
  EXPECT_FALSE(jobs_->lacked(Lack::submit_line));
  EXPECT_THAT(job.partitions, ElementsAre(1));
  EXPECT_EQ(job.ask.request.tasks_per_node, 8);
  EXPECT_EQ(job.ask.request.gpu_type, table_.find_gpu_type("a100"));
}

TEST_F(LoggedJobsTest, RequestsWhatTheJobGotIfDirectivesSaidMore) {
  const Job job = translate(request("sbatch --nice=50 train.sh"));
  EXPECT_TRUE(jobs_->lacked(Lack::submit_line));
  EXPECT_EQ(job.ask.request.min_nodes, 2);
  EXPECT_EQ(job.ask.request.gpu_scope, GpuScope::node);
  EXPECT_EQ(job.ask.request.gpus, 4);
  EXPECT_EQ(job.ask.request.cpus_per_task, 8);
  EXPECT_EQ(job.ask.request.memory_per_node_mb, 16 * 1024);
  EXPECT_EQ(job.ask.nice, 50);
}

TEST_F(LoggedJobsTest, AJobWithWholeNodesGetsGpusThatItDidNotRequest) {
  translate(request("sbatch -N2 -n2 --exclusive x"));
  EXPECT_FALSE(jobs_->lacked(Lack::submit_line));
}

/// 16 CPUs at 500 MiB are 8,000 MiB.
TEST_F(LoggedJobsTest, ADefaultCountsIfItExplainsTheMemoryThatTheJobGot) {
  const std::string line = "sbatch -N2 -n16 --gres=gpu:4 x";
  trace::Request each = request(line);
  each.memory_gb = 8000.0F / 1024;
  EXPECT_EQ(translate(each).ask.request.memory_per_cpu_mb, 500);
  each.memory_gb = 32;  // a directive in the script says more
  const Job job = translate(each);
  EXPECT_EQ(job.ask.request.memory_per_cpu_mb, 0);
  EXPECT_EQ(job.ask.request.memory_per_node_mb, 16 * 1024);
}

TEST_F(LoggedJobsTest, MemoryThatNothingGivesIsNoneAndIsSaid) {
  site_.config.job_defaults = {};
  for (const char* const line : {"", "sbatch -N2 -n16 --gres=gpu:4 x"}) {
    trace::Request each = request(line);
    each.memory_gb = NAN;
    const Job job = translate(each);
    EXPECT_FALSE(gives_memory(job.ask.request)) << line;
    EXPECT_TRUE(jobs_->lacked(Lack::memory)) << line;
    each.memory_gb = 32;
    EXPECT_EQ(translate(each).ask.request.memory_per_node_mb, 16 * 1024) << line;
    EXPECT_FALSE(jobs_->lacked(Lack::memory)) << line;
  }
  EXPECT_TRUE(
      translate(request("sbatch -N2 -n16 --gres=gpu:4 --mem=0 x")).ask.request.whole_memory);
}

TEST_F(LoggedJobsTest, ASiteWithADefaultSaysNothingOfALogWithoutMemory) {
  trace::Request each = request("");
  each.memory_gb = NAN;
  EXPECT_EQ(translate(each).ask.request.memory_per_cpu_mb, 500);
  EXPECT_FALSE(jobs_->lacked(Lack::memory));
}

TEST_F(LoggedJobsTest, SaysWhatElseTheLogLacks) {
  trace::Request each = request("");
  each.cpus = NAN;
  each.partition = kNoName;
  const Job job = translate(each);
  for (const Lack lack : {Lack::partition, Lack::cpus, Lack::any_limit}) {
    EXPECT_TRUE(jobs_->lacked(lack)) << static_cast<int>(lack);
  }
  EXPECT_EQ(job.ask.request.least_cpus(), 2);
  EXPECT_EQ(job.ask.time_limit, 300);
}

TEST_F(LoggedJobsTest, TakesTheDefaultQosOfTheAssociation) {
  const Job job = translate(request(""));
  EXPECT_EQ(job.association, 2U);
  EXPECT_EQ(job.ask.qos, "high");
}

TEST_F(LoggedJobsTest, LeavesOutWhatTheJobWaitedForBeforeItWasEligible) {
  const Job job =
      translate(request("sbatch -H --begin=now+60 -d afterok:1 -N2 -n16 --gres=gpu:4 x"));
  EXPECT_FALSE(jobs_->lacked(Lack::submit_line));
  EXPECT_FALSE(job.ask.held);
  EXPECT_EQ(job.ask.begin_delay, 0);
  EXPECT_TRUE(job.ask.dependencies.empty());
}

TEST_F(LoggedJobsTest, ATimeLimitExtendedBeyondThePartitionsIsThePartitions) {
  site_.partitions[0].max_time = 60min;
  trace::Request each = request("");
  each.time_limit = 90min;
  EXPECT_EQ(translate(each).ask.time_limit, 3600);
  EXPECT_TRUE(jobs_->lacked(Lack::time_limit));
}

TEST_F(LoggedJobsTest, SaysWhatTheSiteLacks) {
  trace::Request each = request("");
  each.partition = trace_.names.intern("old");
  each.user = trace_.names.intern("eve");
  each.qos = trace_.names.intern("gold");
  each.reservation = trace_.names.intern("course");
  const Job job = translate(each);
  for (const Lack lack : {Lack::partition, Lack::association, Lack::qos, Lack::reservation}) {
    EXPECT_TRUE(jobs_->lacked(lack)) << static_cast<int>(lack);
  }
  EXPECT_THAT(job.partitions, ElementsAre(0));
  EXPECT_EQ(job.ask.qos, "normal");
  EXPECT_EQ(job.ask.reservation, "");
}

}  // namespace
}  // namespace almanac::slurmctld
