// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac capacity: the table, the document and the report of a plan, and refusals.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using testing::HasSubstr;

/// Two jobs of 8 GPUs for 2 h, a minute apart, in partition a; one in b.
constexpr const char* kLog =
    "job_id,submit_s,run_s,gpus,user,vc,state\n"
    "1,0,7200,8,ann,a,COMPLETED\n"
    "2,60,7200,8,bob,a,COMPLETED\n"
    "3,120,7200,8,eve,b,COMPLETED\n";
constexpr const char* kCapacityCluster =
    "[[vc]]\nname = \"a\"\nnodes = 1\ngpus = 8\n[[vc]]\nname = \"b\"\nnodes = 1\ngpus = 8\n";

class CapacityCommand : public testing::Test {
 protected:
  ProgramRun capacity(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"capacity", log_, "--cluster", cluster_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }

  TemporaryFolder folder_;
  std::string log_ = folder_.write("log.csv", kLog);
  std::string cluster_ = folder_.write("cluster.toml", kCapacityCluster);
};

TEST_F(CapacityCommand, PrintsWhatEachPartitionNeedsWithin100Columns) {
  const ProgramRun made =
      capacity({"--goal", "max wait < 1h", "--by", "partition", "--price", "2", "--growth", "0"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out,
              HasSubstr("Under easy, max wait < 1h 00m requires 3 nodes in 2 partitions, 1 "
                        "node more than today. a lacks most: 1 node."));
  EXPECT_THAT(made.out, HasSubstr("almanac needs as many nodes as easy."));
  EXPECT_THAT(made.out, HasSubstr("Note: the log covers 0.0 days"));
  EXPECT_THAT(made.out, HasSubstr("23,360")) << "16 GPUs x 2 x 730 h";
  std::istringstream lines(made.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("as logged") == std::string::npos) continue;
    ++rows;
    EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_EQ(rows, 4) << "two partitions under two policies";
}

TEST_F(CapacityCommand, WritesDocumentAndReport) {
  const std::string out = folder_ / "plan";
  const ProgramRun made =
      capacity({"--goal", "max wait < 1h", "--policy", "easy", "--lose", "1", "--growth", "0.4",
                "--out", out, "-o", "json", "--threads", "1"});
  ASSERT_EQ(made.status, 0) << made.err;
  const auto document = nlohmann::json::parse(made.out);
  const auto& answers = document.at("answers");
  ASSERT_EQ(answers.size(), 3U) << "as logged, more users, without a node";
  EXPECT_EQ(answers[0].at("nodes"), 3) << "2 in a, 1 in b";
  EXPECT_EQ(answers[0].at("value_today"), 7140);
  EXPECT_EQ(answers[1].at("scenario"), "40 % more users");
  EXPECT_EQ(answers[2].at("scenario"), "without 1 node");
  EXPECT_TRUE(document.at("match").is_null());
  EXPECT_TRUE(std::filesystem::exists(out + "/capacity.json"));
  EXPECT_TRUE(std::filesystem::exists(out + "/capacity_curve.csv"));
  const ProgramRun again = capacity({"--goal", "max wait < 1h", "--policy", "easy", "--lose", "1",
                                     "--growth", "0.4", "-o", "json", "--threads", "3"});
  EXPECT_EQ(again.out, made.out);
}

TEST_F(CapacityCommand, RefusesWhatIsNoGoalInOneLine) {
  const ProgramRun made = capacity({"--goal", "p90 wait"});
  EXPECT_EQ(made.status, 2);
  EXPECT_THAT(made.err, HasSubstr("a goal is mean|median|pNN|max, then wait|completion|slowdown"));
  EXPECT_EQ(std::count(made.err.begin(), made.err.end(), '\n'), 1) << made.err;
}

TEST_F(CapacityCommand, RefusesALossThatLeavesNoNode) {
  const ProgramRun all = capacity({"--goal", "p90 wait < 1h", "--lose", "2"});
  EXPECT_EQ(all.status, 2);
  EXPECT_THAT(all.err, HasSubstr("--lose 2 leaves no node: the cluster has 2 nodes"));
  const ProgramRun each = capacity({"--goal", "p90 wait < 1h", "--lose", "1", "--by", "partition"});
  EXPECT_EQ(each.status, 2);
  EXPECT_THAT(each.err, HasSubstr("--lose 1 leaves no node: the smallest partition has 1 node"));
}

}  // namespace
}  // namespace almanac
