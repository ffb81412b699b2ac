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
constexpr const char* kIncidentTrace =
    "job_id,submit_s,run_s,gpus,user,checkpoint_s\n"
    "A,0,300,8,ann,60\n"
    "B,0,200,8,bob,60\n";
constexpr const char* kIncidents = "time,event,subject,value\n100,down,0,\n1000,up,0,\n";

class IncidentsCommand : public testing::Test {
 protected:
  ProgramRun simulate(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"simulate",    folder_.write("trace.csv", kIncidentTrace),
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
  const std::string longer = "ran 00:06:10 for 00:05:00 of work";  // 40 s lost, 30 s to restart
  EXPECT_THAT(told.out, HasSubstr(longer));
  EXPECT_THAT(run_program({"explain", run_, "A"}).out, HasSubstr(longer));
}

/// A node draws 1000 W while its GPU is in use, 400 W idle, and is always on. The job runs from 0
/// to 1 h, which is dirty and dear, or from 1 h to 2 h, which is neither.
TEST_F(IncidentsCommand, BillPowerWhenItIsDrawn) {
  const std::string power =
      folder_.write("power.toml",
                    "extends = \"dgx1\"\ngpus = 1\nidle_w = 400\nfull_w = 1000\n[facility]\npue = "
                    "1\nprice_per_kwh = 7\ncurrency = \"EUR\"\n"
                    "kg_co2_per_kwh = 7\n");
  const std::string hours = folder_.write("hours.csv",
                                          "time,event,subject,value\n"
                                          "0,signal,carbon,500\n0,signal,price,0.4\n"
                                          "0,signal,price/A,3\n0,signal,mood,1\n"
                                          "3600,signal,carbon,100\n3600,signal,price,0.1\n"
                                          "3600,signal,price/A,2\n");
  const auto billed = [&](const std::string& submit, const std::string& first) {
    // A second before it ends, the empty job lets both runs last two hours.
    const std::string log =
        folder_.write("jobs.csv", "job_id,submit_s,run_s,gpus\nfirst,0,1,1\nA," + submit +
                                      ",3599,1\nlast," + first + ",1,1\n");
    const ProgramRun done = run_program(
        {"simulate", log, "--cluster",
         folder_.write("c.toml", "[[vc]]\nname = \"all\"\nnodes = 1\ngpus = 1\ngpu_type = \"A\"\n"),
         "--policy", "fifo", "--incidents", hours, "--power", power, "--out", run_, "-o", "json"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("signal mood is not in cost or kg_co2"));
    return json::parse(done.out).at(0);
  };
  const json dirty = billed("1", "7199");
  const json clean = billed("3600", "7199");
  ASSERT_EQ(dirty["makespan_s"], 7200);
  ASSERT_EQ(clean["makespan_s"], 7200);
  EXPECT_NEAR(dirty["kg_co2"].get<double>(), 0.5 + 0.4 * 0.1, 1e-3);
  EXPECT_NEAR(clean["kg_co2"].get<double>(), 0.4 * 0.5 + 0.1, 1e-3);
  EXPECT_NEAR(dirty["cost"].get<double>(), 0.4 + 0.4 * 0.1, 1e-3);
  EXPECT_NEAR(clean["cost"].get<double>(), 0.4 * 0.4 + 0.1, 1e-3);
  EXPECT_NEAR(dirty["gpu_cost"].get<double>(), 3, 0.01);
  EXPECT_NEAR(clean["gpu_cost"].get<double>(), 2, 0.01);
}

TEST_F(IncidentsCommand, AreRefusedWhereTheyCannotBeMeant) {
  const ProgramRun loaded = simulate({"--load", "2"});
  EXPECT_EQ(loaded.status, 2);
  EXPECT_THAT(loaded.err, HasSubstr("leave out --load, or --incidents and --signal"));
  incidents_ = folder_.write("wrong.csv", "time,event,subject,value\n100,down,n9,\n");
  const ProgramRun wrong = simulate();
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.csv:2: expected a node of the cluster, found \"n9\""));
}

}  // namespace
}  // namespace almanac
