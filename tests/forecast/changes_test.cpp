// SPDX-License-Identifier: Apache-2.0
#include "forecast/changes.h"

#include <gtest/gtest.h>

#include "faults/model_file.h"
#include "policy/registry.h"
#include "support/play.h"

namespace almanac::forecast {
namespace {

TEST(ParseChange, ReadsWhatToStringWrites) {
  for (const char* text : {"cancel 17", "add 1 node", "add 2 nodes", "add 2 nodes to research",
                           "policy almanac+preempt:all"}) {
    const auto change = parse_change(text);
    ASSERT_TRUE(change) << text;
    EXPECT_EQ(to_string(*change), text);
  }
  EXPECT_EQ(parse_change(" cancel  12_3 ")->job, "12_3");
}

TEST(ParseChange, SaysWhatItExpects) {
  for (const char* text : {"", "cancel", "cancel 1 2", "add nodes", "add 0 nodes", "add x nodes",
                           "add 2 nodes in vc", "remove 2 nodes", "policy"}) {
    const auto change = parse_change(text);
    ASSERT_FALSE(change) << text;
    EXPECT_EQ(change.error().code, Code::usage);
    EXPECT_NE(to_string(change.error()).find("policy NAME"), std::string::npos);
  }
}

TEST(ParseChange, LeavesTheBoundOfNodesToTheCluster) {
  const auto change = parse_change("add 200000 nodes");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->nodes, 200'000);
  EXPECT_NE(parse_change("add 99999999999 nodes").error().message.find("1 or more"),
            std::string::npos);
}

/// One node with a GPU. Job 0 runs until 100 s; 1 (50 s) and 2 (10 s) wait in this order.
class ChangesTest : public testing::Test {
 protected:
  ChangesTest() {
    input_.cluster = cluster::uniform(1, 1);
    add_job(input_.trace, {.id = "A", .run = 100s});
    add_job(input_.trace, {.id = "B", .run = 50s});
    add_job(input_.trace, {.id = "C", .run = 10s});
    for (std::uint32_t job = 0; job < 3; ++job) {
      beliefs_[JobId{job}].likely.run = input_.trace.jobs[job].outcome.run;
      beliefs_[JobId{job}].own.run = input_.trace.jobs[job].outcome.run;
    }
  }
  Result<std::vector<Shift>> after(std::vector<std::string> texts) {
    std::vector<Change> changes;
    for (const std::string& text : texts) changes.push_back(*parse_change(text));
    const Known known{
        .jobs =
            [&](const std::string& asked) {
              std::vector<JobId> made;
              for (std::uint32_t job = 0; job < input_.trace.jobs.size(); ++job) {
                if (names(asked, input_.trace.id(input_.trace.jobs[job].id)))
                  made.push_back(JobId{job});
              }
              return made;
            },
        .policy = [](const std::string& name) { return policy::registry().compose(name); }};
    return compare({.trace = input_.trace,
                    .cluster = input_.cluster,
                    .composition = composition_,
                    .options = {.failures = failures_}},
                   present_, beliefs_, changes, known, 5, 0);
  }

  Case input_;
  const faults::Model* failures_ = nullptr;
  policy::Composition composition_ = *policy::registry().compose("fifo");
  sim::Present present_{.at = Time{10s},
                        .running = {{.job = JobId{0},
                                     .past = {.since = Time{0s}, .start = Time{0s}},
                                     .worked = 10s,
                                     .held = {{.node = NodeId{0}, .gpus = 1}}}},
                        .waiting = {{.job = JobId{1}, .past = {.since = Time{5s}}},
                                    {.job = JobId{2}, .past = {.since = Time{6s}}}},
                        .drained = {}};
  Beliefs beliefs_;
};

TEST_F(ChangesTest, ACancelledJobLetsTheOthersGo) {
  const auto made = after({"cancel A"});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->size(), 3U);
  const Shift& of_b = (*made)[0];
  EXPECT_EQ(of_b.job, JobId{1});
  EXPECT_EQ(of_b.before.start_by, Time{100s});
  EXPECT_EQ(of_b.after.start_by, Time{10s});
  EXPECT_EQ((*made)[1].before.start_by, Time{150s});
  EXPECT_EQ((*made)[1].after.start_by, Time{60s});
  EXPECT_TRUE((*made)[2].cancelled);
  EXPECT_EQ((*made)[2].before.end_by, Time{100s});
}

TEST(Names, AnArrayMeansItsTasks) {
  EXPECT_TRUE(names("17", "17"));
  EXPECT_TRUE(names("17", "17_3"));
  EXPECT_TRUE(names("17_3", "17_3"));
  EXPECT_FALSE(names("17", "170"));
  EXPECT_FALSE(names("17_3", "17"));
}

// B and C become tasks 1 and 2 of array 7, which frees the queue.
TEST_F(ChangesTest, CancelsAllTasksOfAnArray) {
  input_.trace.jobs[1].id = input_.trace.key("7_1");
  input_.trace.jobs[2].id = input_.trace.key("7_2");
  const auto made = after({"cancel 7"});
  ASSERT_TRUE(made);
  EXPECT_TRUE((*made)[0].cancelled);
  EXPECT_TRUE((*made)[1].cancelled);
  EXPECT_FALSE((*made)[2].cancelled);
}

TEST_F(ChangesTest, CancelsATaskThatWaitsForRoomInItsArray) {
  add_job(input_.trace, {.id = "51_1", .run = 10s});
  present_.throttled = {JobId{3}};
  beliefs_[JobId{3}].likely.run = beliefs_[JobId{3}].own.run = 10s;
  const auto made = after({"cancel 51_1"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->back().job, JobId{3});
  EXPECT_TRUE(made->back().cancelled);
  EXPECT_FALSE(after({"cancel 51_1", "cancel 51_1"})) << "it is gone";
}

TEST_F(ChangesTest, AnAddedNodeTakesTheFirstInLine) {
  const auto made = after({"add 1 node"});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)[0].after.start_by, Time{10s});
  EXPECT_EQ((*made)[1].after.start_by, Time{60s});
  EXPECT_EQ((*made)[2].after.end_by, Time{100s});
}

TEST_F(ChangesTest, SeveralChangesHoldTogether) {
  const auto made = after({"policy sjf", "add 1 node"});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)[1].after.start_by, Time{10s});  // C before B
  EXPECT_EQ((*made)[0].after.start_by, Time{20s});
}

// The rack is an NVLink domain of two nodes with a GPU each. B needs both GPUs of one domain, so it
// waits for A: the added node stands in a second rack. With two added nodes, that rack has both.
TEST_F(ChangesTest, AddedNodesJoinNoFullRack) {
  input_.cluster = {};
  input_.cluster.add_vc("all");
  input_.cluster.add_nodes({.gpus = 1, .nvlink_domain = cluster::NvlinkDomain::rack}, 2);
  for (cluster::Node& each : input_.cluster.nodes) each.rack = "r1";
  input_.trace.jobs[1].request.gpus = input_.trace.jobs[1].request.nvlink_gpus = 2;
  EXPECT_EQ((*after({"add 1 node"}))[0].after.start_by, Time{100s});
  EXPECT_EQ((*after({"add 2 nodes"}))[0].after.start_by, Time{10s});
  EXPECT_EQ((*after({"add 1 node", "add 1 node"}))[0].after.start_by, Time{10s});
}

TEST_F(ChangesTest, NodesOfLaterVirtualClustersAreRenumbered) {
  input_.cluster = {};
  for (const char* name : {"left", "right"}) {
    input_.cluster.add_vc(name);
    input_.cluster.add_nodes({.gpus = 1}, 1);
  }
  for (trace::Job& job : input_.trace.jobs) job.request.vc = input_.trace.names.intern("right");
  input_.trace.jobs[1].request.vc = input_.trace.names.intern("left");
  present_.running[0].held[0].node = NodeId{1};
  const auto made = after({"add 1 node to left"});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)[0].before.start_by, Time{10s});
  EXPECT_EQ((*made)[1].after.start_by, Time{100s});  // right has one node still
  EXPECT_EQ((*after({"add 1 node to right"}))[1].after.start_by, Time{10s});
  const auto unsaid = after({"add 1 node"});
  ASSERT_FALSE(unsaid);
  EXPECT_NE(to_string(unsaid.error()).find("left, right"), std::string::npos);
  EXPECT_EQ(after({"add 1 node to nowhere"}).error().code, Code::not_found);
}

TEST_F(ChangesTest, RefusesWhatCannotBe) {
  EXPECT_EQ(after({"cancel Z"}).error().code, Code::not_found);
  EXPECT_EQ(after({"cancel A", "cancel A"}).error().code, Code::not_found);
  EXPECT_FALSE(after({"policy nonsense"}));
  EXPECT_EQ(after({"add 2000 nodes"}).error().code, Code::usage);
  EXPECT_EQ(after({"add 600 nodes", "add 600 nodes"}).error().code, Code::usage) << "as many";
  input_.cluster.add_vc("empty");
  const auto copy = after({"add 1 node to empty"});
  ASSERT_FALSE(copy);
  EXPECT_NE(to_string(copy.error()).find("virtual cluster that has none"), std::string::npos);
}

// The node of `right` fails about once an hour. It becomes node 2 if `left` grows, and its
// failures, hence the end of job A there, stay the same.
TEST_F(ChangesTest, NodesKeepTheirFailures) {
  input_.cluster = {};
  for (const char* name : {"left", "right"}) {
    input_.cluster.add_vc(name);
    input_.cluster.add_nodes({.gpus = 1}, 1);
  }
  for (trace::Job& job : input_.trace.jobs) job.request.vc = input_.trace.names.intern("left");
  input_.trace.jobs[0].request.vc = input_.trace.names.intern("right");
  beliefs_[JobId{0}].likely.run = beliefs_[JobId{0}].own.run = 10h;
  present_.running[0].held[0].node = NodeId{1};
  const faults::Model failures = *faults::parse_model(
      "[[cause]]\nname = \"node\"\nof = \"node\"\nper_1000_days = 24000\nrepair = \"1m\"\n",
      "failures.toml");
  failures_ = &failures;
  const auto made = after({"add 1 node to left"});
  ASSERT_TRUE(made);
  const Shift& of_a = made->back();
  ASSERT_EQ(of_a.job, JobId{0});
  EXPECT_GT(of_a.before.end_by, Time{11h});
  EXPECT_EQ(of_a.after.end_by, of_a.before.end_by);
  EXPECT_LT((*made)[1].after.start_by, (*made)[1].before.start_by) << "left has two nodes";
}

// B takes 100 s or 10,000 s, and the same in the futures before and after A is cancelled.
TEST_F(ChangesTest, DrawsAreTheSameBeforeAndAfter) {
  for (const std::uint32_t job : {0U, 1U}) {
    auto likely = std::make_unique<predict::Distribution>();
    likely->add_cell(predict::Distribution::cell_of(2), 0.5);
    likely->add_cell(predict::Distribution::cell_of(4), 0.5);
    beliefs_[JobId{job}].likely.distribution = std::move(likely);
  }
  input_.cluster = cluster::uniform(2, 1);
  const auto made = after({"cancel A"});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)[0].before.end_by, (*made)[0].after.end_by);
}

}  // namespace
}  // namespace almanac::forecast
