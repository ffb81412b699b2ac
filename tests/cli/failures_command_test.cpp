// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a user sees of simulated failures, of signals in files, and of explain --what-if.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class FailuresCommand : public testing::Test {
 protected:
  ProgramRun simulate(const std::string& log, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"simulate", folder_.write("log.csv", log), "--out", run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

TEST_F(FailuresCommand, ReportsCausesSizesAndEachInterruption) {
  const std::string log = "job_id,submit_s,run_s,gpus\nbig,0,2592000,1024\n";
  const ProgramRun done =
      simulate(log, {"--cluster", "132x8", "--policy", "fifo", "--failures", "llama3"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("1 of 1 jobs do not say how often they write a checkpoint"));
  EXPECT_THAT(done.out, HasSubstr("effective training time"));
  EXPECT_THAT(done.out, HasSubstr("513 to 4,096 GPUs"));
  const ProgramRun why = run_program({"explain", run_, "big"});
  ASSERT_EQ(why.status, 0) << why.err;
  EXPECT_THAT(why.out, HasSubstr("stopped by "));
  EXPECT_THAT(why.out, HasSubstr(" of work, restarts at once in 00:05:00"));
  const ProgramRun again = run_program({"explain", run_, "big", "--replay", "-o", "json"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_GT(json::parse(again.out).at(0)["failures"].size(), 3U);
}

TEST_F(FailuresCommand, NamesPresetsIfTheNameIsWrong) {
  const std::string log = "job_id,submit_s,run_s,gpus\nbig,0,100,8\n";
  const ProgramRun done = simulate(log, {"--cluster", "1x8", "--failures", "lama3"});
  EXPECT_NE(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr("llama3"));
}

/// The job runs in the dirty hour or in the clean one; the cluster draws idle power in both.
TEST_F(FailuresCommand, SignalsComeFromFilesAndJobsHaveAPart) {
  const std::string carbon = folder_.write("carbon.csv", "time,value\n0,500\n3600,100\n");
  const auto emitted = [&](const std::string& submit) {
    const std::string log =
        "job_id,submit_s,run_s,gpus\nfirst,0,1,1\nA," + submit + ",3599,8\nlast,7199,1,1\n";
    const ProgramRun done = simulate(log, {"--cluster", "1x8", "--policy", "fifo", "--signal",
                                           "carbon=" + carbon, "-o", "json"});
    EXPECT_EQ(done.status, 0) << done.err;
    return json::parse(done.out).at(0)["jobs_kg_co2"].get<double>();
  };
  EXPECT_NEAR(emitted("1") / emitted("3600"), 5, 0.02);
}

/// A reserved GPU for two hours at 1, and one of a spot node for the hour of the short job at 0.3.
TEST_F(FailuresCommand, ReservedGpusArePaidForAlwaysAndOthersWhileTheyAreHeld) {
  const std::string cluster =
      folder_.write("c.toml",
                    "[[vc]]\nname = \"all\"\n[[vc.group]]\nnodes = 1\ngpus = 1\n"
                    "gpu_type = \"A\"\n[[vc.group]]\nnodes = 1\ngpus = 1\n"
                    "gpu_type = \"A-spot\"\n");
  const std::string always = folder_.write("reserved.csv", "time,value\n0,1\n");
  const std::string hourly = folder_.write("spot.csv", "time,value\n0,0.3\n3600,0.5\n");
  const ProgramRun done =
      simulate("job_id,submit_s,run_s,gpus\nlong,0,7200,1\nshort,0,3600,1\n",
               {"--cluster", cluster, "--policy", "fifo+first_fit", "--signal",
                "reserved/A=" + always + ",price/A-spot=" + hourly, "-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json made = json::parse(done.out).at(0);
  EXPECT_NEAR(made["gpu_cost"].get<double>(), 2.3, 1e-9);
  ASSERT_EQ(made["gpu_costs"].size(), 2U);
  EXPECT_EQ(made["gpu_costs"][0]["type"], "reserved/A");
  EXPECT_NEAR(made["gpu_costs"][0]["gpu_h"].get<double>(), 2, 1e-9);
  EXPECT_NEAR(made["gpu_costs"][0]["cost"].get<double>(), 2, 1e-9);
  EXPECT_EQ(made["gpu_costs"][1]["type"], "A-spot");
  EXPECT_NEAR(made["gpu_costs"][1]["gpu_h"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(made["gpu_costs"][1]["cost"].get<double>(), 0.3, 1e-9);
  EXPECT_THAT(done.err, testing::Not(HasSubstr("gpu_cost")));
  const std::string late = folder_.write("late.csv", "time,value\n1800,0.5\n");
  const ProgramRun part =
      simulate("job_id,submit_s,run_s,gpus\nlong,0,7200,1\nshort,1801,3600,1\n",
               {"--cluster", cluster, "--policy", "fifo", "--signal", "price/A-spot=" + late});
  EXPECT_THAT(part.err, HasSubstr("gpu_cost leaves out A GPUs: there is no signal price/A or "
                                  "reserved/A"));
  EXPECT_THAT(part.err, HasSubstr("until then gpu_cost leaves out its GPUs"));
}

TEST_F(FailuresCommand, WhatIfNamesTheJobInTheWay) {
  const std::string log =
      "job_id,submit_s,run_s,gpus\nsmall,0,3600,2\nlarge,0,3600,6\nlate,10,3600,4\n";
  ASSERT_EQ(simulate(log, {"--cluster", "1x8", "--policy", "fifo"}).status, 0);
  const ProgramRun why = run_program({"explain", run_, "late", "--what-if"});
  ASSERT_EQ(why.status, 0) << why.err;
  EXPECT_THAT(why.out, HasSubstr("if job large ended (6 GPUs)"));
  EXPECT_THAT(why.out, testing::Not(HasSubstr("small")));
}

/// A short failures.csv, which fits into one buffer.
TEST_F(FailuresCommand, AJobWithFewFailuresIsExplainedFromTheRun) {
  const std::string model =
      folder_.write("m.toml", "[[cause]]\nname = \"gpu\"\nof = \"gpu\"\nper_1000_days = 100\n");
  const std::string log = "job_id,submit_s,run_s,gpus\nA,0,864000,8\nB,0,864000,0\n";
  const ProgramRun done =
      simulate(log, {"--cluster", "2x8", "--policy", "fifo", "--failures", model});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("does not say how long a checkpoint stops training (write)"));
  const ProgramRun why = run_program({"explain", run_, "A"});
  EXPECT_EQ(why.status, 0) << why.err;
  EXPECT_THAT(why.out, HasSubstr("stopped by gpu"));
}

TEST_F(FailuresCommand, SparesAreNotedAndCheckedAgainstTheCluster) {
  const auto model = [&](const std::string& spares) {
    return folder_.write("m.toml", "spares = " + spares +
                                       "\n[[cause]]\nname = \"gpu\"\nof = \"gpu\"\n"
                                       "per_1000_days = 0\n");
  };
  const std::string log = "job_id,submit_s,run_s,gpus\nA,0,100,8\nB,0,100,16\n";
  const ProgramRun one =
      simulate(log, {"--cluster", "2x8", "--policy", "fifo", "--failures", model("1")});
  EXPECT_THAT(one.err, HasSubstr("keeps 1 of 2 nodes as spares"));
  EXPECT_THAT(one.err, HasSubstr("1 job can never start"));
  const ProgramRun two =
      simulate(log, {"--cluster", "2x8", "--policy", "fifo", "--failures", model("2")});
  EXPECT_NE(two.status, 0);
  EXPECT_THAT(two.err, HasSubstr("spares = 2, but no virtual cluster has more nodes than that"));
}

TEST_F(FailuresCommand, SignalsThatCannotBeMeantAreRefused) {
  const std::string log = "job_id,submit_s,run_s,gpus\nA,0,100,8\n";
  const auto refused = [&](const std::string& name, const std::string& rows) {
    const std::string file = folder_.write("signal.csv", "time,value\n" + rows);
    const ProgramRun done =
        simulate(log, {"--cluster", "1x8", "--policy", "fifo", "--signal", name + "=" + file});
    EXPECT_NE(done.status, 0) << name << rows;
    return done.err;
  };
  EXPECT_THAT(refused("carbon", ""), HasSubstr("signal carbon has no values"));
  EXPECT_THAT(refused("carbon", "0,-5\n"), HasSubstr("signal carbon must be 0 to 1e+09"));
  EXPECT_THAT(refused("price", "0,1e300\n"), HasSubstr("signal price must be -1e+09 to 1e+09"));
  EXPECT_THAT(refused("price", "9,1\n5,1\n"), HasSubstr("signal.csv:3: expected a time after"));
  EXPECT_THAT(refused("price", "9,1\n9,2\n"), HasSubstr("signal.csv:3: expected a time after"));
  EXPECT_THAT(refused("price/A100", "0,1\n"), HasSubstr("no GPUs of type \"A100\""));
  EXPECT_THAT(refused("price/", "0,1\n"), HasSubstr("no GPUs of type \"\""));
  EXPECT_THAT(refused("reserved/A100", "0,1\n"), HasSubstr("no GPUs of type \"A100\""));
}

TEST_F(FailuresCommand, NotesWhatASignalLeavesOut) {
  const std::string log = "job_id,submit_s,run_s,gpus\nA,0,100,8\nB,7200,100,8\n";
  const auto noted = [&](const std::string& rows) {
    const std::string file = folder_.write("signal.csv", "time,value\n" + rows);
    const ProgramRun done =
        simulate(log, {"--cluster", "1x8", "--policy", "fifo", "--signal", "carbon=" + file});
    EXPECT_EQ(done.status, 0) << done.err;
    return done.err;
  };
  EXPECT_THAT(noted("0,1\n3600,2\n"), testing::Not(HasSubstr("signal carbon")));
  EXPECT_THAT(noted("3600,1\n7200,2\n"),
              HasSubstr("after the first submission; until then the constant of the power model"));
  EXPECT_THAT(noted("0,1\n600,2\n"), HasSubstr("before the last submission; that value holds"));
  EXPECT_THAT(noted("9000,1\n"), HasSubstr("after the last submission; until then"));
}

TEST_F(FailuresCommand, WhatIfSaysWhyAJobCanNeverStart) {
  const std::string log = "job_id,submit_s,run_s,gpus\nA,0,100,8\nB,0,100,64\n";
  ASSERT_EQ(simulate(log, {"--cluster", "1x8", "--policy", "fifo"}).status, 0);
  const ProgramRun why = run_program({"explain", run_, "B", "--what-if"});
  ASSERT_EQ(why.status, 0) << why.err;
  EXPECT_THAT(why.out, HasSubstr("job B under fifo: never: needs 64 GPUs"));
}

}  // namespace
}  // namespace almanac
