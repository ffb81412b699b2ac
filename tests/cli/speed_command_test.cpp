// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a user sees of cores and speeds: tables, jobs.csv, explain, the report.
#include <filesystem>
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
using testing::Not;
using testing::StartsWith;

/// A node of 2 GPUs and 8 cores, of whose 100 GB/s it gives 75 for long. A has half of the cores
/// that it was recorded with, so it asks 15 of its 30 GB/s; with H's 135 that is 150, and both run
/// at half speed until H ends at 100 s. A has done 25 s then, and the rest takes 150 s more.
/// C and G wait for the cores that A and H hold; G until C ends. X asks more than a node has.
constexpr const char* kSpeedTrace =
    "job_id,submit_s,run_s,gpus,cpus,user,model,reference_cpus,bandwidth_gbs\n"
    "A,0,100,1,2,ann,four,4,30\n"
    "H,0,50,0,6,bob,,,135\n"
    "C,10,20,0,4,bob,,,\n"
    "G,20,10,1,4,cem,four,,\n"
    "X,30,10,0,16,cem,,,\n";
constexpr const char* kSpeedCluster =
    "[[vc]]\nname = \"a\"\nnodes = 1\ngpus = 2\ncpus = 8\nbandwidth_gbs = 100\n";
constexpr const char* kModels =
    "[[model]]\nname = 'four'\n[model.input]\nsource = 'made up'\ngpu_type = ''\nenough_cpus = 4\n"
    "power = 1\ndisk = 1\ndataset_gb = 0\n";

class SpeedCommand : public testing::Test {
 protected:
  ProgramRun simulate(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"simulate",  folder_.write("trace.csv", kSpeedTrace),
                                          "--cluster", folder_.write("cluster.toml", kSpeedCluster),
                                          "--policy",  "fifo",
                                          "--out",     run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  ProgramRun simulate_speeds() {
    return simulate({"--speed", folder_.write("models.toml", kModels)});
  }
  json explained(const char* job) {
    const ProgramRun told = run_program({"explain", run_, job, "--replay", "-o", "json"});
    EXPECT_EQ(told.status, 0) << told.err;
    return json::parse(told.out).at(0);
  }
  std::string file(const std::string& name) const {
    std::ifstream stream(run_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

TEST_F(SpeedCommand, LeavesAMeanRateAndItsFactorsOfEachJob) {
  const ProgramRun done = simulate_speeds();
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(file("fifo/jobs.csv"),
            "job_id,name,user,vc,gpus,submit_s,start_s,end_s,wait_s,run_s,jct_s,preemptions,state,"
            "nodes,cpus,model,mean_rate,rate_gpus,rate_type,rate_neighbours,rate_cpus,rate_memory,"
            "rate_power,rate_bandwidth,gpu_use,mean_cpus,throttled_s\n"
            "A,,ann,,1,0,0,250,0,100,250,0,COMPLETED,0:1,2,four,0.4,1,1,1,0.5,1,1,0.8,0.4,2,\n"
            "H,,bob,,0,0,0,100,0,50,100,0,COMPLETED,0:0,6,,0.5,,,,1,,,0.5,,6,0\n"
            "C,,bob,,0,10,100,120,90,20,110,0,COMPLETED,0:0,4,,1,,,,1,,,1,,4,0\n"
            "G,,cem,,1,20,120,130,100,10,110,0,COMPLETED,0:1,4,four,1,1,1,1,1,1,1,1,1,4,\n"
            "X,,cem,,0,30,,,,10,,0,NEVER,,16,,,,,,,,,,,,\n");
  // Until the last submission, at 30 s, A alone holds a GPU, which computes a quarter of the time.
  const json summary = json::parse(file("summary.json"))[0];
  EXPECT_DOUBLE_EQ(summary["gpu_utilization"], 0.125);
  EXPECT_DOUBLE_EQ(summary["gpu_allocation"], 0.5);
  EXPECT_DOUBLE_EQ(summary["cpu_allocation"], 1);
  EXPECT_THAT(done.out, HasSubstr("GPU utilization"));
  EXPECT_THAT(done.out, HasSubstr("12.5 %"));
  EXPECT_THAT(done.out, HasSubstr("CPU jobs' wait"));
  EXPECT_THAT(run_program({"compare", run_}).out, HasSubstr("GPU utilization"));
  // What came out can go in again, but for the job that never ran.
  const ProgramRun again = run_program({"trace", "info", run_ + "/fifo/jobs.csv", "--lenient"});
  EXPECT_EQ(again.status, 0) << again.err;
}

TEST_F(SpeedCommand, LeavesOutWhatIsNotSimulated) {
  const ProgramRun done = simulate();
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(file("fifo/jobs.csv"), HasSubstr(",nodes,cpus\n"));
  EXPECT_THAT(done.out, Not(HasSubstr("GPU utilization")));
  EXPECT_THAT(done.out, HasSubstr("core allocation"));
  EXPECT_THAT(file("report.html"), Not(HasSubstr("run_held_back")));
  EXPECT_TRUE(explained("A")["paces"].empty());
  EXPECT_FALSE(explained("A").contains("mean_pace"));
}

TEST_F(SpeedCommand, ExplainsTheRateOfAJob) {
  ASSERT_EQ(simulate_speeds().status, 0);
  const std::string out = run_program({"explain", run_, "A", "--replay"}).out;
  EXPECT_THAT(
      out, StartsWith("job A under fifo: 1 GPU, 2 cores, submitted 0s, started 0s, ended 250s, "
                      "waited 00:00:00\n"
                      "  forecast at submission: starts immediately (90 % likely) and ends by "));
  EXPECT_THAT(
      out,
      HasSubstr(
          "  it never waited\n"
          "  0s        00:01:40  runs at 0.25: cores 0.50, bandwidth 0.50 (2 cores)\n"
          "  100s        00:02:30  runs at 0.50: cores 0.50 (2 cores)\n"
          "total: ran at 0.40: cores 0.50, bandwidth 0.80; its GPUs computed 40 % of the time\n"));
  const json told = explained("A");
  ASSERT_EQ(told["paces"].size(), 2U);
  EXPECT_EQ(told["paces"][0]["from_s"], 0);
  EXPECT_EQ(told["paces"][0]["until_s"], 100);
  EXPECT_EQ(told["paces"][0]["rate"], 0.25);
  EXPECT_EQ(told["paces"][0]["held_cpus"], 2);
  EXPECT_EQ(told["paces"][1]["until_s"], 250);
  EXPECT_EQ(told["paces"][1]["bandwidth"], 1);
  EXPECT_DOUBLE_EQ(told["mean_pace"]["rate"], 0.4);
  EXPECT_NEAR(told["mean_pace"]["bandwidth"], 0.8, 1e-6);
}

TEST_F(SpeedCommand, ExplainsWaitsForCores) {
  ASSERT_EQ(simulate_speeds().status, 0);
  const json cpu_job = explained("C");
  ASSERT_EQ(cpu_job["waits"].size(), 1U);
  EXPECT_EQ(cpu_job["waits"][0]["reason"], "SHORT_OF_CORES");
  EXPECT_EQ(cpu_job["waits"][0]["from_s"], 10);
  EXPECT_EQ(cpu_job["waits"][0]["until_s"], 100);
  EXPECT_EQ(cpu_job["waits"][0]["text"], "not enough free cores or memory on the nodes it can use");
  EXPECT_THAT(run_program({"explain", run_, "C", "--replay"}).out,
              HasSubstr("job C under fifo: 4 cores, submitted 10s"));
  const json gpu_job = explained("G");
  ASSERT_EQ(gpu_job["waits"].size(), 1U);
  EXPECT_EQ(gpu_job["waits"][0]["text"],
            "not enough cores or memory next to the free GPUs: needs 1 GPU, 1 free");
  EXPECT_EQ(gpu_job["waits"][0]["until_s"], 120);
  EXPECT_THAT(run_program({"explain", run_, "X", "--replay"}).out,
              HasSubstr("never: needs more cores or memory than its nodes have"));
}

/// Beside each other both run at 1 / (1 + 1/4 * 1/4) = 16/17: B does its 48 s in 51 s, and A, which
/// has done 10 s alone and then 48 s, does the other 102 s alone.
TEST_F(SpeedCommand, ExplainsNeighbours) {
  constexpr const char* kQuiet =
      "[[model]]\nname = 'quiet'\n[[model.board]]\ngpu_type = 'any'\nsource = 'made up'\n"
      "fixed = 1\nsample = 0\nlocal = 0\nlocal_more = 0\nremote = 0\nremote_more = 0\n"
      "remote_spread = 0\noverlap = 1\nbatch = [1, 1]\ngpus = 8\n"
      "[model.board.sharing]\nsuffers = 0.25\nsuffers_power = 0\ncauses = 0.25\n"
      "causes_power = 0\n";
  const std::string trace = folder_.write("two.csv",
                                          "job_id,submit_s,run_s,gpus,model\n"
                                          "A,0,160,1,quiet\nB,10,48,1,quiet\n");
  const ProgramRun done =
      run_program({"simulate", trace, "--cluster", "1x1", "--policy", "fifo+harmless", "--speed",
                   folder_.write("quiet.toml", kQuiet), "--out", run_});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(file("fifo+harmless/jobs.csv"), HasSubstr(",0:1,"));
  EXPECT_THAT(file("fifo+harmless/jobs.csv"), HasSubstr(",0:1x0.5,"));
  const std::string told = run_program({"explain", run_, "A", "--replay"}).out;
  EXPECT_THAT(told, HasSubstr("ended 163s"));
  EXPECT_THAT(told, HasSubstr("runs at 0.94: neighbours 0.94"));
  EXPECT_THAT(told, HasSubstr("total: ran at 0.98: neighbours 0.98"));
  EXPECT_EQ(explained("B")["paces"][0]["neighbours"], explained("B")["paces"][0]["rate"]);
}

/// A node of 100 W whose two GPUs add up to 200 W each and work in proportion to their limit, 100
/// W.
class PowerLimitCommand : public SpeedCommand {
 protected:
  ProgramRun simulate_limited(const std::string& limit, bool with_speed = true) {
    const std::string node =
        "[[vc]]\nname = \"a\"\nnodes = 1\ngpus = 2\ncpus = 8\ngpu_power_limit_w = " + limit + "\n";
    constexpr const char* kBoard =
        "gpus = 2\nidle_w = 100\n[gpu]\ntype = \"even\"\nlimit_w = 200\nleast_limit_w = 20\n"
        "idle = 0\nfull = 1\nbend = 1\nstrain = 1\n[gpu.use]\nfour = 1\n";
    std::vector<std::string> arguments = {
        "simulate",
        folder_.write("one.csv",
                      "job_id,submit_s,run_s,gpus,cpus,model,reference_cpus\n"
                      "A,0,100,1,3,four,4\n"),
        "--cluster",
        folder_.write("limited.toml", node),
        "--power",
        folder_.write("even.toml", kBoard),
        "--policy",
        "fifo",
        "--out",
        run_};
    if (with_speed) {
      arguments.insert(arguments.end(), {"--speed", folder_.write("models.toml", kModels)});
    }
    return run_program(arguments);
  }
};

// Three of four cores feed it at 3/4, and the limit leaves 1/2: two thirds of that.
TEST_F(PowerLimitCommand, SlowsAJobAndSparesPower) {
  const ProgramRun done = simulate_limited("100");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(
      file("fifo/jobs.csv"),
      HasSubstr("A,,,,1,0,0,200,0,100,200,0,COMPLETED,0:1,3,four,0.5,1,1,1,0.75,1,0.6667,1,"));
  const std::string told = run_program({"explain", run_, "A", "--replay"}).out;
  EXPECT_THAT(told, HasSubstr("runs at 0.50: cores 0.75, power 0.67 (3 cores)"));
  EXPECT_THAT(told, HasSubstr("total: ran at 0.50: cores 0.75, power 0.67"));
  EXPECT_DOUBLE_EQ(explained("A")["paces"][0]["power"], 2.0 / 3);
  // The node's 100 W, and 100 W of the GPU, for 200 s.
  EXPECT_DOUBLE_EQ(json::parse(file("summary.json"))[0]["energy_j"], 40'000);
  EXPECT_THAT(file("fifo/timeline.csv"), HasSubstr(",1,0,200,"));
  const std::string page = file("report.html");
  if (!page.empty()) {
    EXPECT_THAT(page, HasSubstr("ran at 0.50: cores 0.75, power 0.67"));
  }
}

TEST_F(PowerLimitCommand, TakesTheBoardsOwnLimitForNone) {
  ASSERT_EQ(simulate_limited("200").status, 0);
  EXPECT_THAT(run_program({"explain", run_, "A", "--replay"}).out,
              HasSubstr("runs at 0.75: cores 0.75 (3"));
}

TEST_F(PowerLimitCommand, SaysWhereALimitMeansNothing) {
  EXPECT_THAT(simulate_limited("100", false).err,
              HasSubstr("power limits of GPUs have no effect without --speed"));
  const ProgramRun low = simulate_limited("10");
  EXPECT_NE(low.status, 0);
  EXPECT_THAT(low.err, HasSubstr("limited.toml: gpu_power_limit_w must be 20 to 200, the limits of "
                                 "a even in the power model even"));
}

/// J may run on any number of GPUs up to four, of which the box has two.
TEST_F(SpeedCommand, TellsWhatOtherNumbersOfGpusWouldBring) {
  const std::string trace = folder_.write("open.csv",
                                          "job_id,submit_s,run_s,gpus,model,max_gpus,deadline_s\nA,"
                                          "0,100,1,half,,\nJ,5,100,1,half,4,500\n");
  const std::string models =
      std::string(std::getenv("ALMANAC_SOURCE_DIR")) + "/tests/support/linear.toml";
  const std::vector<std::string> words = {"simulate", trace,  "--cluster", "1x2",
                                          "--policy", "fifo", "--out",     run_};
  ASSERT_EQ(run_program(words).status, 0);
  const ProgramRun blind = run_program({"forecast", run_, "--other-gpus"});
  EXPECT_EQ(blind.status, 2);
  EXPECT_THAT(blind.err, HasSubstr("--speed"));
  std::vector<std::string> with = words;
  with.insert(with.end(), {"--speed", models});
  ASSERT_EQ(run_program(with).status, 0);
  const json told = explained("J").at("forecast").at("with_other_gpus");
  ASSERT_EQ(told.size(), 1U) << "four are more than there are";
  EXPECT_EQ(told.at(0).at("gpus"), 2);
  EXPECT_TRUE(told.at(0).contains("deadline_probability"));
  const ProgramRun judged = run_program({"forecast", run_, "--other-gpus", "-o", "json"});
  ASSERT_EQ(judged.status, 0) << judged.err;
  const json of_fifo = json::parse(judged.out).at(0);
  EXPECT_EQ(of_fifo.at("jobs"), 2);
  const json& last = of_fifo.at("scores").back();
  EXPECT_THAT(std::string(last.at("of")), StartsWith("other numbers of GPUs"));
  EXPECT_EQ(last.at("forecasts"), 1);
}

TEST_F(SpeedCommand, DrawsWhatHeldJobsBack) {
  ASSERT_EQ(simulate_speeds().status, 0);
  const std::string page = file("report.html");
  if (page.empty()) GTEST_SKIP() << "this build has no report page";
  EXPECT_THAT(page, HasSubstr("GPU utilization is 12 % and GPU allocation 50 %."));
  EXPECT_THAT(page, HasSubstr("ran at 0.40: cores 0.50, bandwidth 0.80"));
  EXPECT_THAT(page, HasSubstr("run_cpu_jobs"));
}

}  // namespace
}  // namespace almanac
