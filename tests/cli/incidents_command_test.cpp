// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a user sees of nodes that fail: simulate, explain, rerun, and what is refused.
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A loses its node after 100 s, of which its last checkpoint, each 60 s, keeps 60; it goes on when
/// B has ended, for 240 s and the 30 s of a restart.
constexpr const char* kTrace =
    "job_id,submit_s,run_s,gpus,user,checkpoint_s\n"
    "A,0,300,8,ann,60\n"
    "B,0,200,8,bob,60\n";
constexpr const char* kIncidents = "time,event,subject,value\n100,down,0,\n1000,up,0,\n";

class IncidentsCommand : public testing::Test {
 protected:
  ProgramRun simulate(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"simulate",    folder_.write("trace.csv", kTrace),
                                          "--cluster",   "2x8",
                                          "--policy",    "fifo",
                                          "--incidents", incidents_,
                                          "--out",       run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
  std::string incidents_ = folder_.write("incidents.csv", kIncidents);
};

TEST_F(IncidentsCommand, CountsRunsThatLostTheirNodesAndRepeatsThem) {
  const ProgramRun done = simulate({"-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json summary = json::parse(done.out).at(0);
  EXPECT_EQ(summary["failed_runs"], 1);
  EXPECT_EQ(summary["preemptions"], 0);
  EXPECT_EQ(summary["makespan_s"], 470);
  const ProgramRun again = run_program({"rerun", run_});
  EXPECT_EQ(again.status, 0) << again.err;
  const ProgramRun told = run_program({"explain", run_, "A", "--replay"});
  EXPECT_THAT(told.out, HasSubstr("ended 470s, waited 00:01:40"));
}

TEST_F(IncidentsCommand, AreRefusedWhereTheyCannotBeMeant) {
  const ProgramRun loaded = simulate({"--load", "2"});
  EXPECT_EQ(loaded.status, 2);
  EXPECT_THAT(loaded.err, HasSubstr("leave out --load or --incidents"));
  incidents_ = folder_.write("wrong.csv", "time,event,subject,value\n100,down,n9,\n");
  const ProgramRun wrong = simulate();
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.csv:2: expected a node of the cluster, found \"n9\""));
}

}  // namespace
}  // namespace almanac
