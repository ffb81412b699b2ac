// SPDX-License-Identifier: Apache-2.0
//
// Policy kueue with the queues of a site, as a user calls it: the output of kubectl and a log. The
// cluster has two nodes with four GPUs; times are minutes.
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/experiment.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Job {
  std::string id{};
  double submit_min = 0;
  double run_min = 0;
  int gpus = 1;
  std::string queue{};
  std::string gpu_type{};
};

constexpr const char* kTwoTypes =
    "[node]\ngpus = 4\n[[vc]]\nname = \"all\"\n"
    "[[vc.group]]\nnodes = 1\ngpu_type = \"a100\"\n"
    "[[vc.group]]\nnodes = 1\ngpu_type = \"h100\"\n";

/// A ClusterQueue with a quota of GPUs, in cohort `all`.
std::string queue(const std::string& name, int gpus, const std::string& more = "") {
  return fmt::format(
      R"({{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
           "metadata": {{"name": "{}"}},
           "spec": {{"cohortName": "all",
                     "resourceGroups": [{{"coveredResources": ["nvidia.com/gpu"], "flavors": [
                       {{"name": "default", "resources": [
                         {{"name": "nvidia.com/gpu", "nominalQuota": {}}}]}}]}}]{}}}}})",
      name, gpus, more);
}

class SiteKueueTest : public testing::Test {
 protected:
  Result<void> play(const std::vector<std::string>& queues, const std::vector<Job>& jobs,
                    const std::string& cluster = "") {
    const TemporaryFolder folder;
    std::string items = R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
                            "metadata": {"name": "default"}, "spec": {}})";
    for (const std::string& each : queues) items += "," + each;
    experiment::Experiment experiment;
    experiment.queues =
        folder.write("queues.json", R"({"kind": "List", "items": [)" + items + "]}");
    std::string log = "job_id,submit_s,run_s,gpus,vc,gpu_type\n";
    for (const Job& job : jobs) {
      log += fmt::format("{},{},{},{},{},{}\n", job.id, job.submit_min * 60, job.run_min * 60,
                         job.gpus, job.queue, job.gpu_type);
    }
    experiment.trace = folder.write("log.csv", log);
    experiment.cluster = cluster.empty() ? "2x4" : folder.write("cluster.toml", cluster);
    experiment.policies = {policy_};
    experiment.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    auto prepared = experiment::prepare(experiment);
    if (!prepared) return tl::unexpected(prepared.error());
    notes_ = prepared->notes;
    auto played = experiment::simulate_run(*prepared, 0, nullptr, nullptr, kNoJob, true);
    if (!played) return tl::unexpected(played.error());
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const auto& found = played->jobs[at];
      const bool has_started = found.start != kNoTime;
      spans_[prepared->trace.id(prepared->trace.jobs[at].id)] = {
          has_started ? seconds(found.start) / 60 : -1, seconds(found.end) / 60};
    }
    return {};
  }
  double start_of(const std::string& job) { return spans_.at(job).first; }
  double end_of(const std::string& job) { return spans_.at(job).second; }

  std::string policy_ = "kueue";
  std::map<std::string, std::pair<double, double>> spans_;  ///< Minutes; -1 = never.
  std::vector<std::string> notes_;
};

// a may use b's GPUs while b has no jobs. b does not preempt, so it waits until a gives them back.
TEST_F(SiteKueueTest, AQueueBorrowsWhatItsCohortLeavesIdle) {
  ASSERT_TRUE(play({queue("a", 4), queue("b", 4)},
                   {{"a1", 0, 60, 4, "a"}, {"a2", 0, 60, 4, "a"}, {"b1", 10, 30, 4, "b"}}));
  EXPECT_EQ(start_of("a1"), 0);
  EXPECT_EQ(start_of("a2"), 0);
  EXPECT_EQ(start_of("b1"), 60);
}

// With reclaimWithinCohort, the job of a that got its quota last gives way.
TEST_F(SiteKueueTest, AQueueReclaimsItsQuota) {
  ASSERT_TRUE(
      play({queue("a", 4), queue("b", 4, R"(, "preemption": {"reclaimWithinCohort": "Any"})")},
           {{"a1", 0, 60, 4, "a"}, {"a2", 1, 60, 4, "a"}, {"b1", 10, 30, 4, "b"}}));
  EXPECT_EQ(start_of("b1"), 10);
  EXPECT_EQ(end_of("a1"), 60);
  EXPECT_EQ(end_of("a2"), 40 + 51);  // 9 of its 60 minutes are done at 10, and b1 ends at 40
}

// A job of 8 GPUs waits while one of 2 runs. StrictFIFO holds those behind it back.
TEST_F(SiteKueueTest, AStrictQueueLetsNobodyPass) {
  const std::vector<Job> jobs{
      {"small", 0, 60, 2, "a"}, {"wide", 1, 10, 8, "a"}, {"next", 2, 10, 2, "a"}};
  ASSERT_TRUE(play({queue("a", 8)}, jobs));
  EXPECT_EQ(start_of("next"), 2);
  EXPECT_EQ(start_of("wide"), 60);
  ASSERT_TRUE(play({queue("a", 8, R"(, "queueingStrategy": "StrictFIFO")")}, jobs));
  EXPECT_EQ(start_of("wide"), 60);
  EXPECT_EQ(start_of("next"), 70);
}

// Quota is not nodes: each node has one GPU left, so the pod with 2 GPUs is admitted and waits.
TEST_F(SiteKueueTest, AnAdmittedJobWaitsForNodes) {
  ASSERT_TRUE(play({queue("a", 8)},
                   {{"one", 0, 30, 3, "a"}, {"two", 0, 20, 3, "a"}, {"pair", 1, 10, 2, "a"}}));
  EXPECT_EQ(start_of("pair"), 20);
}

// b's only flavor stands for A100s, and the cluster has none: its job holds no quota of the others.
TEST_F(SiteKueueTest, AJobWithoutAFlavorOfItsTypeWaits) {
  const std::string typed =
      R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
          "metadata": {"name": "gpu-h100"}, "spec": {}})";
  ASSERT_TRUE(play({typed,
                    R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
                        "metadata": {"name": "a"},
                        "spec": {"resourceGroups": [{"coveredResources": ["nvidia.com/gpu"],
                          "flavors": [{"name": "gpu-h100", "resources": [
                            {"name": "nvidia.com/gpu", "nominalQuota": 4}]}]}]}})"},
                   {{"old", 0, 10, 4, "a", "a100"}, {"new", 1, 10, 4, "a", "h100"}}, kTwoTypes));
  EXPECT_LT(start_of("old"), 0) << "it never starts";
  EXPECT_EQ(start_of("new"), 1);
}

// Almanac's order lets the short job go first. It does not where a rank could evict a running job.
TEST_F(SiteKueueTest, AnOrderRanksByExpectedGpuTime) {
  const std::vector<Job> jobs{
      {"first", 0, 60, 4, "a"}, {"long", 1, 60, 4, "a"}, {"short", 2, 10, 4, "a"}};
  ASSERT_TRUE(play({queue("a", 4)}, jobs));
  EXPECT_EQ(start_of("long"), 60);
  EXPECT_EQ(start_of("short"), 120);
  policy_ = "kueue:order=almanac";
  ASSERT_TRUE(play({queue("a", 4)}, jobs));
  EXPECT_EQ(start_of("short"), 60);
  EXPECT_EQ(start_of("long"), 70);
  ASSERT_TRUE(
      play({queue("a", 4, R"(, "preemption": {"withinClusterQueue": "LowerPriority"})")}, jobs));
  EXPECT_EQ(start_of("long"), 60);
}

// A rank would let one queue of a cohort overtake the other: b2 is shorter than b1 and not ranked.
TEST_F(SiteKueueTest, QueuesThatShareACohortGetNoRanks) {
  policy_ = "kueue:order=almanac+oracle";
  ASSERT_TRUE(play({queue("a", 4), queue("b", 4)}, {{"a1", 0, 60, 8, "a"},
                                                    {"b1", 1, 60, 4, "b"},
                                                    {"a2", 1, 100, 4, "a"},
                                                    {"b2", 2, 10, 4, "b"}}));
  EXPECT_EQ(start_of("b1"), 60);
  EXPECT_EQ(start_of("b2"), 120);
}

// The newer, the shorter: the order to reach is j6, j5, ... j1. j6 has rank 3, and j5 to j2 share
// one. When two end at once, Kueue starts j6 and the oldest of those four before the lever hears of
// it.
TEST_F(SiteKueueTest, RanksComeInFewBandsAndAfterKueue) {
  std::vector<Job> jobs{{"x", 0, 60, 2, "a"}, {"y", 0, 60, 2, "a"}};
  for (int at = 1; at <= 6; ++at) {
    jobs.push_back({fmt::format("j{}", at), 1.0 * at, 60.0 - at, 2, "a"});
  }
  policy_ = "kueue:order=almanac+oracle";
  ASSERT_TRUE(play({queue("a", 4)}, jobs));
  EXPECT_EQ(start_of("j6"), 60);
  EXPECT_EQ(start_of("j2"), 60);
  EXPECT_EQ(start_of("j5"), 60 + 54);
  EXPECT_EQ(start_of("j4"), 60 + 58);
}

// A StrictFIFO queue is left alone unless it is backfilled.
TEST_F(SiteKueueTest, AStrictQueueIsOrderedInModeBackfillOnly) {
  const std::vector<Job> jobs{
      {"first", 0, 60, 4, "a"}, {"long", 1, 60, 4, "a"}, {"short", 2, 10, 4, "a"}};
  const std::string strict = queue("a", 4, R"(, "queueingStrategy": "StrictFIFO")");
  policy_ = "kueue:order=almanac+oracle";
  ASSERT_TRUE(play({strict}, jobs));
  EXPECT_EQ(start_of("long"), 60);
  policy_ = "kueue:order=backfill+oracle";
  ASSERT_TRUE(play({strict}, jobs));
  EXPECT_EQ(start_of("short"), 60);
  EXPECT_EQ(start_of("long"), 70);
}

// Of 8 GPUs 4 are used until 60. `wide` waits for all 8; `quick` ends by 60 and goes before it,
// `slow` would not. Kueue's default starts both at once, so that `wide` waits until 243.
TEST_F(SiteKueueTest, BackfillReservesForTheFirstThatDoesNotFit) {
  const std::vector<Job> jobs{{"runs", 0, 60, 4, "a"},
                              {"wide", 1, 25, 8, "a"},
                              {"slow", 3, 240, 2, "a"},
                              {"quick", 4, 50, 2, "a"}};
  ASSERT_TRUE(play({queue("a", 8)}, jobs));
  EXPECT_EQ(start_of("slow"), 3);
  EXPECT_EQ(start_of("wide"), 243);
  policy_ = "kueue:order=backfill+oracle";
  ASSERT_TRUE(play({queue("a", 8)}, jobs));
  EXPECT_EQ(start_of("quick"), 4);
  EXPECT_EQ(start_of("wide"), 60);
  EXPECT_EQ(start_of("slow"), 85);
}

TEST_F(SiteKueueTest, NotesWhatNeverStarts) {
  ASSERT_TRUE(play({queue("a", 4), queue("b", 2, R"(, "stopPolicy": "Hold")")},
                   {{"a1", 0, 10, 8, "a"}, {"a2", 0, 10, 4, "a"}, {"b1", 0, 10, 1, "b"}}));
  EXPECT_THAT(notes_,
              Contains(HasSubstr("1 job requests more GPUs than a ClusterQueue can ever have")));
  EXPECT_THAT(notes_, Contains(HasSubstr("1 job is in stopped ClusterQueues")));
  EXPECT_EQ(start_of("a2"), 0);
  EXPECT_LT(start_of("b1"), 0);
}

TEST_F(SiteKueueTest, RefusesJobsThatBelongToNoQueue) {
  const auto played = play({queue("a", 4), queue("b", 4)}, {{"x", 0, 60, 4, "elsewhere"}});
  ASSERT_FALSE(played);
  EXPECT_THAT(to_string(played.error()),
              HasSubstr("1 job belongs to no ClusterQueue (the first is of virtual cluster "
                        "elsewhere)"));
}

}  // namespace
}  // namespace almanac
