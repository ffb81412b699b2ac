// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands around a run - simulate, compare, rerun, explain, sweep, policy, cluster - as a
/// user meets them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// Job 1 holds the only node of vc a for 100 s; 2 and 3 wait behind it; 4 asks more than there is.
constexpr const char* kTrace =
    "job_id,submit_s,run_s,gpus,user,vc,state\n"
    "1,0,100,8,ann,a,COMPLETED\n"
    "2,10,50,8,bob,a,FAILED\n"
    "3,20,10,1,ann,a,COMPLETED\n"
    "4,30,10,64,bob,a,COMPLETED\n";
constexpr const char* kCluster = "[[vc]]\nname = \"a\"\nnodes = 1\ngpus = 8\n";

class RunCommand : public testing::Test {
 protected:
  ProgramRun simulate(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"simulate", trace_, "--cluster", cluster_, "--out", run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  std::string file(const std::string& name) const {
    std::ifstream stream(run_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  TemporaryFolder folder_;
  std::string trace_ = folder_.write("trace.csv", kTrace);
  std::string cluster_ = folder_.write("cluster.toml", kCluster);
  std::string run_ = folder_ / "run";
};

// Job 1 waits 20 s twice, each time because a shorter job takes its place.
TEST_F(RunCommand, ExplainsEachWaitOfAJobThatIsStopped) {
  const std::string log =
      folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,100,8\n2,10,20,8\n3,60,20,8\n");
  const ProgramRun done =
      run_program({"simulate", log, "--cluster", "1x8", "--policy", "srtf", "--out", run_});
  ASSERT_EQ(done.status, 0) << done.err;
  const ProgramRun why = run_program({"explain", run_, "1", "--policy", "srtf"});
  EXPECT_THAT(why.out, HasSubstr("waited 00:00:40"));
  EXPECT_THAT(why.out, HasSubstr("total: 00:00:40 for jobs that it was stopped for\n"));
  EXPECT_THAT(why.out, Not(HasSubstr("were not kept")));
  const auto waits = [](const ProgramRun& run) { return json::parse(run.out).at(0).at("waits"); };
  EXPECT_EQ(waits(run_program({"explain", run_, "1", "-o", "json"})),
            waits(run_program({"explain", run_, "1", "--replay", "-o", "json"})));
}

TEST_F(RunCommand, SaysWhichNodesItInferred) {
  const std::string log =
      folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,100,8\n2,10,20,8\n");
  EXPECT_THAT(run_program({"simulate", log, "--policy", "fifo"}).err,
              HasSubstr("1 node x 8 GPUs in one virtual cluster"));
}

// When job 4 comes, two GPUs are free beside job 1 and three beside job 3. A restart of job 3, with
// one GPU, adds 7 s, and it has done 9 s since its last checkpoint: 16 s. Job 1 has just written
// one, and its restart adds 30 s on each of two GPUs.
TEST_F(RunCommand, SaysWhichJobsToMove) {
  const std::string log = folder_.write("log.csv",
                                        "job_id,submit_s,run_s,gpus,checkpoint_s\n"
                                        "1,0,1000,2,20\n2,0,30,3,\n3,1,2000,1,30\n4,40,50,4,\n");
  const ProgramRun done =
      run_program({"simulate", log, "--cluster", "2x4", "--policy", "fifo", "--out", run_});
  ASSERT_EQ(done.status, 0) << done.err;
  const ProgramRun said = run_program({"cluster", "defrag", run_});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("5 GPUs free, 2 jobs running, 1 job waiting for GPUs"));
  EXPECT_THAT(said.out, HasSubstr("1. job 4 needs 4 GPUs and fits on 1:4 after one job has moved"));
  EXPECT_THAT(said.out, HasSubstr("move job 3 from 1:1 to 0:1"));
  const ProgramRun asked = run_program({"cluster", "defrag", run_, "-o", "json"});
  const json advice = json::parse(asked.out);
  EXPECT_EQ(advice.at("at_s"), 40);
  ASSERT_EQ(advice.at("steps").size(), 1U);
  EXPECT_EQ(advice.at("steps")[0].at("lost_gpu_s"), 16);
  EXPECT_EQ(advice.at("steps")[0].at("is_proven"), true);
  const ProgramRun before = run_program({"cluster", "defrag", run_, "--at", "20"});
  EXPECT_THAT(before.out, HasSubstr("no moves make room for a pending job\n"));
  EXPECT_EQ(run_program({"cluster", "defrag", run_, "--at", "9000"}).status, 2);
}

TEST_F(RunCommand, LeavesWhatTheFormatPageSays) {
  const ProgramRun done = simulate({"--policy", "fifo,sjf"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(file("fifo/jobs.csv"),
            "job_id,name,user,vc,gpus,submit_s,start_s,end_s,wait_s,run_s,jct_s,preemptions,state,"
            "nodes\n"
            "1,,ann,a,8,0,0,100,0,100,100,0,COMPLETED,0:8\n"
            "2,,bob,a,8,10,100,150,90,50,140,0,FAILED,0:8\n"
            "3,,ann,a,1,20,150,160,130,10,140,0,COMPLETED,0:1\n"
            "4,,bob,a,64,30,,,,10,,0,NEVER,\n");
  // At 0, 60, 120 s: 8 of 8 GPUs busy; 9 GPUs asked for by two waiting jobs, then 1 by one.
  EXPECT_EQ(file("fifo/timeline.csv"),
            "time_s,gpus_total,gpus_busy,gpus_waiting,jobs_running,jobs_waiting,nodes_on,"
            "nodes_asleep,power_w,gpus_computing,cpus_total,cpus_busy\n"
            "0,8,8,0,1,0,1,0,3500,,,\n"
            "60,8,8,9,1,2,1,0,3500,,,\n"
            "120,8,8,1,1,1,1,0,3500,,,\n");
  const json summary = json::parse(file("summary.json"));
  ASSERT_EQ(summary.size(), 2U);
  EXPECT_EQ(summary[0]["policy"], "fifo");
  EXPECT_EQ(summary[0]["finished"], 3);
  EXPECT_DOUBLE_EQ(summary[0]["avg_wait_s"], (0 + 90 + 130) / 3.0);
  EXPECT_EQ(summary[0]["queued_jobs"], 2);
  EXPECT_DOUBLE_EQ(summary[0]["makespan_s"], 160);
  EXPECT_DOUBLE_EQ(summary[0]["gpu_occupancy"], (100 * 8 + 50 * 8 + 10) / (160 * 8.0));
  const json run = json::parse(file("run.json"));
  EXPECT_EQ(run["complete"], true);
  EXPECT_EQ(run["trace_sha256"].get<std::string>().size(), 64U);
  EXPECT_THAT(done.err, HasSubstr("1 job can never start on this cluster and is left out: job 4 "
                                  "never: needs 64 GPUs"));
}

TEST_F(RunCommand, ShowsWhatWasRecordedBesideThePolicies) {
  // Job 2 started an hour after the GPUs were free: some limit that the log does not tell.
  const std::string log = folder_.write("starts.csv",
                                        "job_id,submit_s,start_s,end_s,run_s,gpus\n"
                                        "1,0,0,100,100,8\n"
                                        "2,10,3700,3750,50,8\n"
                                        "3,4000,4000,4010,10,8\n");
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"simulate", log,    "--cluster", "1x8",
                                          "--policy", "fifo", "--out",     run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  const ProgramRun done = run({});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\nas recorded "));
  EXPECT_THAT(done.out, HasSubstr("Closest match to your log: fifo. 67 % of the jobs"));
  EXPECT_THAT(done.out, HasSubstr("No simulation reproduces the log"));
  const json summary = json::parse(file("summary.json"));
  ASSERT_EQ(summary.size(), 2U);
  EXPECT_DOUBLE_EQ(summary[0]["as_recorded"], 2 / 3.0);
  EXPECT_FALSE(summary[0].contains("recorded"));
  EXPECT_EQ(summary[1]["policy"], "as recorded");
  EXPECT_EQ(summary[1]["recorded"], true);
  EXPECT_DOUBLE_EQ(summary[1]["avg_wait_s"], 3690 / 3.0);
  EXPECT_DOUBLE_EQ(summary[1]["p50_wait_s"], 0);
  EXPECT_DOUBLE_EQ(summary[1]["gpu_allocation"], 150 / 4000.0);
  EXPECT_TRUE(summary[1]["energy_j"].is_null());
  EXPECT_THAT(run_program({"compare", run_}).out, HasSubstr("\nas recorded "));
  EXPECT_EQ(run_program({"rerun", run_}).status, 0);
  const std::string out = folder_ / "compared";
  EXPECT_EQ(run_program({"compare", run_, "--out", out}).status, 0) << "it has no schedule";
  std::ifstream waits(out + "/run_wait_cdf.csv", std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(waits), {});
  EXPECT_THAT(all, HasSubstr("\nfifo,"));
  EXPECT_THAT(all, Not(HasSubstr("recorded")));
  // Of another load nothing was recorded; nor where most jobs tell no start.
  EXPECT_THAT(run({"--load", "2"}).out, Not(HasSubstr("recorded")));
  EXPECT_THAT(simulate({"--policy", "fifo"}).out, Not(HasSubstr("recorded")));
}

TEST_F(RunCommand, DoesNotDependOnTheNumberOfThreads) {
  ASSERT_EQ(simulate({"--policy", "all", "--threads", "1"}).status, 0);
  const json one = json::parse(file("summary.json"));
  ASSERT_EQ(simulate({"--policy", "all", "--threads", "4"}).status, 0);
  const json four = json::parse(file("summary.json"));
  ASSERT_GE(one.size(), 7U);
  for (std::size_t at = 0; at < one.size(); ++at) {
    EXPECT_EQ(one[at]["signature"], four[at]["signature"]) << one[at]["policy"];
  }
}

TEST_F(RunCommand, LeavesTheSameReportWithAnyNumberOfThreads) {
  const ProgramRun first = simulate({"--threads", "1"});
  ASSERT_EQ(first.status, 0) << first.err;
  const std::string one = file("report.html");
  if (one.empty()) {
    EXPECT_THAT(first.err, HasSubstr("this build has no report page"));
    GTEST_SKIP() << "this build has no report page";
  }
  EXPECT_THAT(first.err, HasSubstr("report: " + run_ + "/report.html"));
  EXPECT_THAT(one, HasSubstr(R"("kind":"run")"));
  EXPECT_THAT(one, HasSubstr("1 job can never start on this cluster."));
  EXPECT_THAT(one, testing::Not(HasSubstr("engine_wall_s")));
  for (const char* const threads : {"2", "8"}) {
    ASSERT_EQ(simulate({"--threads", threads}).status, 0);
    EXPECT_EQ(one == file("report.html"), true) << threads << " threads";
  }
  ASSERT_EQ(run_program({"rerun", run_, "--out", folder_ / "again"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "again" + "/report.html"));
}

TEST_F(RunCommand, RepeatsARunAndTellsWhenItCannot) {
  ASSERT_EQ(simulate({"--policy", "fifo,qssf+easy:2"}).status, 0);
  const ProgramRun again = run_program({"rerun", run_});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("all schedules are the same"));
  folder_.write("cluster.toml", "[[vc]]\nname = \"a\"\nnodes = 2\ngpus = 8\n");
  const ProgramRun changed = run_program({"rerun", run_});
  EXPECT_EQ(changed.status, 69);
  EXPECT_THAT(changed.err,
              HasSubstr("the cluster, a policy file or the model has changed since the run"));
  folder_.write("trace.csv", std::string(kTrace) + "5,40,1,1,ann,a,COMPLETED\n");
  EXPECT_THAT(run_program({"rerun", run_}).err, HasSubstr("the trace has changed since the run"));
}

TEST_F(RunCommand, LeavesOutOfAllWhatTheLogGivesNothingToDo) {
  const ProgramRun done = simulate({"--policy", "all"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("left out because no job has a deadline: chronus\n"));
  EXPECT_THAT(done.out, Not(HasSubstr("chronus")));
  const json run = json::parse(file("run.json"));
  const json& names = run["configuration"]["policy"];
  EXPECT_EQ(names[1], "fifo") << "the baseline, after almanac";
  EXPECT_EQ(names.size(), json::parse(file("summary.json")).size());
  EXPECT_EQ(std::count(names.begin(), names.end(), "all"), 0);
  const ProgramRun again = run_program({"rerun", run_});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("all schedules are the same"));
  EXPECT_THAT(again.err, Not(HasSubstr("left out because")));
  const ProgramRun named = simulate({"--policy", "chronus"});
  EXPECT_THAT(named.out, HasSubstr("chronus (oracle)"));
  EXPECT_THAT(named.err, Not(HasSubstr("left out because")));
  // A log with a deadline.
  folder_.write("trace.csv",
                "job_id,submit_s,run_s,gpus,deadline_s\n1,0,100,8,150\n2,10,50,8,300\n");
  const ProgramRun due = simulate({"--policy", "all"});
  ASSERT_EQ(due.status, 0) << due.err;
  EXPECT_THAT(due.out, HasSubstr("chronus (oracle)"));
  EXPECT_THAT(due.err, Not(HasSubstr("has a deadline")));
}

TEST_F(RunCommand, MarksABoundWhereverItCompares) {
  const ProgramRun done = simulate({"--policy", "fifo,srtf,srtf+learned"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json summary = json::parse(file("summary.json"));
  EXPECT_EQ(summary[0]["bound"], false);
  EXPECT_EQ(summary[0]["needs"], json::array());
  EXPECT_EQ(summary[1]["bound"], true);
  EXPECT_EQ(summary[1]["needs"], json::array({"true run times", "checkpoints"}));
  EXPECT_EQ(summary[2]["bound"], false);
  EXPECT_EQ(summary[2]["complete"], true);
  const ProgramRun compared = run_program({"compare", run_});
  for (const std::string& out : {done.out, compared.out}) {
    EXPECT_THAT(out, HasSubstr("srtf (oracle) "));
    EXPECT_THAT(out, HasSubstr("srtf+learned "));
    EXPECT_THAT(out, HasSubstr("An oracle uses true run times"));
  }
  EXPECT_THAT(run_program({"compare", run_, "-o", "csv"}).out,
              HasSubstr(",bound,complete,recorded,signature\n"));
}

TEST_F(RunCommand, SaysWhatPoliciesNeedAndDo) {
  const ProgramRun wide = run_program({"policy", "list", "-o", "wide"});
  EXPECT_THAT(wide.out, HasSubstr("needs true run times, deadlines, checkpoints; stops jobs\n"));
  EXPECT_THAT(wide.out, HasSubstr(" Kueue v0.19 (kubernetes-sigs)")) << "sources";
  EXPECT_THAT(run_program({"policy", "list"}).out, Not(testing::ContainsRegex("[^\n]{101}")));
  const json listed = json::parse(run_program({"policy", "list", "-o", "json"}).out)["policies"];
  const auto find = [&](const char* name) {
    return *std::find_if(listed.begin(), listed.end(),
                         [&](const json& each) { return each["name"] == name; });
  };
  EXPECT_EQ(find("fifo")["bound"], false);
  EXPECT_EQ(find("srtf")["bound"], true);
  EXPECT_EQ(find("gittins")["needs"], json::array({"checkpoints"}));
  EXPECT_THAT(find("gittins")["does"].dump(), HasSubstr("preempts running jobs"));
  const ProgramRun srtf = run_program({"policy", "describe", "srtf"});
  EXPECT_THAT(srtf.out, HasSubstr("# Uses true run times, which are known only when"));
  EXPECT_THAT(srtf.out, HasSubstr("# It preempts running jobs.\n"));
  EXPECT_EQ(simulate({"--policy", folder_.write("runs.toml", srtf.out)}).status, 0) << "a file";
  EXPECT_THAT(run_program({"policy", "describe", "easy"}).out,
              HasSubstr("# It gives each job what it requests and never interrupts it.\n"));
}

TEST_F(RunCommand, ExplainsWhyAJobWaitedAndHowLong) {
  ASSERT_EQ(simulate({"--policy", "fifo"}).status, 0);
  const ProgramRun told = run_program({"explain", run_, "3", "-o", "json"});
  ASSERT_EQ(told.status, 0) << told.err;
  const json explained = json::parse(told.out).at(0);
  ASSERT_EQ(explained["waits"].size(), 1U);
  EXPECT_EQ(explained["waits"][0]["reason"], "SHORT_OF_GPUS");
  EXPECT_EQ(explained["waits"][0]["from_s"], 20);
  EXPECT_EQ(explained["waits"][0]["until_s"], 150);
  EXPECT_THAT(run_program({"explain", run_, "4"}).out, HasSubstr("never: needs 64 GPUs"));
  EXPECT_EQ(run_program({"explain", run_, "99"}).status, 2);
}

// What a run keeps says of a tenant what playing it again does.
TEST_F(RunCommand, ExplainsWhichInstanceAJobWaitedFor) {
  const std::string log = folder_.write("log.csv",
                                        "job_id,submit_s,run_s,gpus,gpu_profile\n"
                                        "1,0,300,1,3g.40gb\n2,0,300,1,4g.40gb\n3,10,60,1,2g.20gb\n"
                                        "4,20,60,1,1g.5gb\n");
  const std::string board = folder_.write(
      "board.toml",
      "takes_every_job = true\n[node]\ngpus = 1\nsharing = \"mig\"\nboard = \"A100-80GB\"\n"
      "[[vc]]\nname = \"all\"\nnodes = 1\n");
  const ProgramRun done =
      run_program({"simulate", log, "--cluster", board, "--policy", "fifo", "--out", run_});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(run_program({"explain", run_, "3"}).out,
              HasSubstr("no 2g.20gb is free on the nodes it can use"));
  EXPECT_THAT(run_program({"explain", run_, "4"}).out,
              HasSubstr("never: needs a 1g.5gb, but an A100-80GB offers only 1g.10gb"));
}

TEST_F(RunCommand, SaysHowTenantsFaredWithoutPlayingItAgain) {
  const std::string tenants =
      folder_.write("tenants.toml", std::string(kCluster) +
                                        "[[tenant]]\nname = \"ann\"\nguarantee = 6\n"
                                        "[[tenant]]\nname = \"bob\"\nguarantee = 2\n");
  const ProgramRun done =
      run_program({"simulate", trace_, "--cluster", tenants, "--policy", "fifo", "--out", run_});
  ASSERT_EQ(done.status, 0) << done.err;
  const ProgramRun replayed = run_program({"explain", run_, "2", "--replay"});
  const auto at = replayed.out.find("tenant bob got ");
  ASSERT_NE(at, std::string::npos) << replayed.out;
  const std::string said = replayed.out.substr(at, replayed.out.find('\n', at) - at);
  EXPECT_THAT(said, HasSubstr(" less than its fair share over the whole run"));
  EXPECT_THAT(run_program({"explain", run_, "2"}).out, HasSubstr(said + "\n"));
  const json kept = json::parse(run_program({"explain", run_, "2", "-o", "json"}).out);
  EXPECT_EQ(kept.at(0)["tenant"], said);
  const ProgramRun swept = run_program(
      {"sweep", trace_, "--cluster", tenants, "--policy", "fifo", "--out", folder_ / "sweep.csv"});
  EXPECT_THAT(swept.out, HasSubstr("share error"));
  const std::string summary = file("summary.json");
  const json fairness = json::parse(summary).at(0)["fairness"];
  std::ifstream stream(folder_ / "sweep.csv");
  const std::string points{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(points, HasSubstr("share_error"));
  EXPECT_THAT(points, HasSubstr(fairness["worst_fair_share"].dump())) << "as of the run";
  const ProgramRun told = run_program({"forecast", run_, "--jobs", "1", "--futures", "2"});
  EXPECT_THAT(told.out, HasSubstr("in the run\n    share error "));
  EXPECT_THAT(told.out, HasSubstr(", worst off tenant bob: "));
  const json of_run = json::parse(
      run_program({"forecast", run_, "--jobs", "1", "--futures", "2", "-o", "json"}).out);
  for (const auto* name : {"share_error", "jain_fair_share", "worst_owner", "worst_fair_share"}) {
    EXPECT_EQ(of_run.at(0).at("fairness").at(name), fairness.at(name)) << name;
  }
}

// Ann asks one of her four GPUs for two hours, bob has three of them beside his own.
TEST_F(RunCommand, SaysWhoLentToWhom) {
  const std::string log = folder_.write(
      "lent.csv", "job_id,submit_s,run_s,gpus,user\na,0,7200,1,ann\nb,0,7200,7,bob\n");
  const std::string tenants = folder_.write(
      "lenders.toml",
      "takes_every_job = true\n[[vc]]\nname = \"box\"\nnodes = 1\ngpus = 8\n"
      "[[tenant]]\nname = \"ann\"\nguarantee = 4\n[[tenant]]\nname = \"bob\"\nguarantee = 4\n");
  const ProgramRun simulated =
      run_program({"simulate", log, "--cluster", tenants, "--policy", "fifo", "--out", run_});
  EXPECT_THAT(simulated.out, HasSubstr("\nfifo: ann lent 6 GPU-hours to bob\n"));
  const ProgramRun swept = run_program(
      {"sweep", log, "--cluster", tenants, "--policy", "fifo", "--out", folder_ / "sweep.csv"});
  EXPECT_THAT(swept.out, HasSubstr("\nat load 1 under fifo: ann lent 6 GPU-hours to bob\n"));
}

TEST_F(RunCommand, ExplainsInWordsAndAsOneJsonList) {
  ASSERT_EQ(simulate({"--policy", "fifo,easy"}).status, 0);
  const json both = json::parse(run_program({"explain", run_, "3", "-o", "json"}).out);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1]["policy"], "easy");
  const ProgramRun told = run_program({"explain", run_, "3", "--policy", "fifo"});
  EXPECT_THAT(told.out, HasSubstr("total: 00:02:10 for GPUs that others held\n"));
}

TEST_F(RunCommand, ExplainsWithoutTheLogWhatAReplayTellsToo) {
  ASSERT_EQ(simulate({"--policy", "fifo,easy"}).status, 0);
  const auto waits = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"explain", run_, "2", "-o", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun told = run_program(words);
    EXPECT_EQ(told.status, 0) << told.err;
    return json::parse(told.out).at(0).at("waits");
  };
  const json replayed = waits({"--replay"});
  std::filesystem::remove(trace_);
  EXPECT_EQ(waits({}), replayed);
  EXPECT_NE(run_program({"explain", run_, "2", "--replay"}).status, 0) << "that needs the log";
}

TEST_F(RunCommand, ReadsALogFromStandardInput) {
  const ProgramRun studied = run_program({"study", "-"}, trace_);
  ASSERT_EQ(studied.status, 0) << studied.err;
  EXPECT_THAT(studied.out, HasSubstr("standard input: 4 jobs, "));
  const ProgramRun advised =
      run_program({"advise", "-", "--cluster", cluster_, "--policy", "fifo"}, trace_);
  EXPECT_EQ(advised.status, 0) << advised.err;
  const std::string bad = folder_.write("bad.csv", "job_id,submit_s,run_s,gpus\n1,0,x,8\n");
  EXPECT_THAT(run_program({"study", "-"}, bad).err, HasSubstr("standard input:2: run_s must be"));
}

TEST_F(RunCommand, HelpsWhenAskedForHelp) {
  const ProgramRun all = run_program({"help"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(all.out, run_program({"--help"}).out);
  EXPECT_EQ(run_program({"help", "trace", "info"}).out,
            run_program({"trace", "info", "--help"}).out);
  const ProgramRun wrong = run_program({"help", "simulat"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean simulate?"));
  EXPECT_THAT(
      run_program({"help", "NONSENSE"}).err,
      HasSubstr("no command, topic, policy or part is named NONSENSE (topics: formats, policies,"));
}

TEST_F(RunCommand, RefusesALogThatHasNothingToSimulate) {
  const std::string cpu = folder_.write("cpu.csv", "job_id,submit_s,run_s,gpus,cpus\n1,0,9,0,4\n");
  const ProgramRun refused = run_program({"simulate", cpu, "--cluster", "1x8"});
  EXPECT_EQ(refused.status, 65);
  EXPECT_THAT(refused.err,
              HasSubstr("no job requests a GPU, and the cluster does not count cores"));
  EXPECT_EQ(refused.out, "");
}

TEST_F(RunCommand, RefusesAFolderThatAnotherRunIsWrittenTo) {
  ASSERT_EQ(simulate({"--policy", "fifo"}).status, 0);
  const int folder = ::open(run_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(folder, LOCK_EX | LOCK_NB), 0);
  const ProgramRun refused = simulate({"--policy", "easy"});
  EXPECT_EQ(refused.status, 69);
  EXPECT_THAT(refused.err, HasSubstr("another run is being written to this folder"));
  EXPECT_EQ(json::parse(file("summary.json"))[0]["policy"], "fifo");
  ::close(folder);
  EXPECT_EQ(simulate({"--policy", "easy"}).status, 0);
}

TEST_F(RunCommand, SaysWhereOutputCannotBeWritten) {
  const auto full = [&](const std::string& arguments) {
    const std::string program = std::getenv("ALMANAC_PROGRAM");
    const int status = std::system(
        (program + " " + arguments + " >/dev/full 2>'" + folder_ / "err" + "'").c_str());
    std::ifstream err(folder_ / "err");
    return std::pair{WEXITSTATUS(status), std::string{std::istreambuf_iterator<char>(err), {}}};
  };
  for (const std::string& arguments : {std::string("policy list"), std::string("--version"),
                                       std::string("--help"), "trace info '" + trace_ + "'"}) {
    const auto [status, said] = full(arguments);
    EXPECT_EQ(status, 74) << arguments;
    EXPECT_EQ(said, "almanac: cannot write standard output: No space left on device\n");
  }
  EXPECT_EQ(full("policy list -o csv").first, 74);
  EXPECT_EQ(full("trace convert '" + trace_ + "' -").first, 74);
}

TEST_F(RunCommand, SaysAtOnceThatASweepCannotBeKept) {
  const ProgramRun refused = run_program(
      {"sweep", trace_, "--cluster", cluster_, "--policy", "fifo", "--out", trace_ + "/sweep.csv"});
  EXPECT_EQ(refused.status, 74) << refused.err;
  EXPECT_EQ(refused.out, "") << "nothing was simulated";
}

TEST_F(RunCommand, TellsNoSpreadOfSeedsThatChangeNothing) {
  const auto sweep = [&](const std::string& policy) {
    return run_program(
               {"sweep", trace_, "--cluster", cluster_, "--policy", policy, "--seeds", "1..3"})
        .out;
  };
  EXPECT_THAT(sweep("fifo"), HasSubstr("All 3 seeds gave the same schedules"));
  EXPECT_THAT(sweep("fifo"), Not(HasSubstr("least to most over seeds")));
}

TEST_F(RunCommand, RefusesThreadsThatCannotBe) {
  EXPECT_EQ(simulate({"--threads", "-3"}).status, 2);
}

TEST_F(RunCommand, ComparesRuns) {
  ASSERT_EQ(simulate({"--policy", "fifo,sjf"}).status, 0);
  const ProgramRun table = run_program({"compare", run_});
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.out, HasSubstr("vs fifo"));
  const ProgramRun csv = run_program({"compare", run_, "-o", "csv"});
  EXPECT_THAT(csv.out, testing::StartsWith("policy,jobs,finished,avg_jct_s"));
  const ProgramRun nowhere = run_program({"compare", folder_ / "nothing"});
  EXPECT_EQ(nowhere.status, 66);
  EXPECT_THAT(nowhere.err, HasSubstr("give a run directory"));
}

TEST_F(RunCommand, LeavesAReportOnRunsSideBySide) {
  ASSERT_EQ(simulate({"--policy", "fifo,sjf"}).status, 0);
  const std::string other = folder_ / "other";
  ASSERT_EQ(
      run_program({"simulate", trace_, "--cluster", cluster_, "--policy", "easy", "--out", other})
          .status,
      0);
  const std::string out = folder_ / "compared";
  const ProgramRun done = run_program({"compare", run_, other, "--out", out});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr(run_ + ":sjf")) << "the table is printed as before";
  const auto content = [&](const std::string& name) {
    std::ifstream stream(out + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  // fifo: waits of 0, 90 and 130 s; sjf: job 3 first, so 0, 100 and 80 s.
  EXPECT_THAT(content("run_wait_cdf.csv"), HasSubstr(run_ + ":fifo,90,0.5\n"));
  EXPECT_THAT(content("run_wait_cdf.csv"), HasSubstr(run_ + ":sjf,80,0.5\n"));
  EXPECT_THAT(content("run_comparison.csv"), HasSubstr(other + ":easy,"));
  EXPECT_THAT(content("runs_made.csv"), HasSubstr(other + ",trace.csv,"));
  const json contents = json::parse(content("runs.json"));
  EXPECT_EQ(contents["kind"], "runs");
  EXPECT_EQ(contents["compared"]["baseline"], run_ + ":fifo");
  EXPECT_EQ(contents["compared"]["best"], run_ + ":sjf");
  EXPECT_NE(contents["compared"]["best_choice"], run_ + ":sjf") << "a bound is no choice";
  // Another report replaces it; a folder of other things is left alone.
  EXPECT_EQ(run_program({"compare", run_, "--out", out}).status, 0);
  EXPECT_THAT(content("run_wait_cdf.csv"), HasSubstr("\nfifo,"));
  EXPECT_NE(run_program({"compare", run_, "--out", run_}).status, 0);
  if (done.err.find("no report page") != std::string::npos) GTEST_SKIP() << "no report page";
  EXPECT_THAT(done.err, HasSubstr("wrote the report to " + out + "/report.html"));
  EXPECT_THAT(content("report.html"), HasSubstr(R"("kind":"runs")"));
}

TEST_F(RunCommand, SweepsTheSameWithAnyNumberOfThreads) {
  const auto sweep = [&](const std::string& threads) {
    const std::string out = folder_ / ("sweep" + threads + ".csv");
    const ProgramRun done =
        run_program({"sweep", trace_, "--cluster", cluster_, "--policy", "fifo,sjf+random",
                     "--load", "0.5,1..2", "--seeds", "1..3", "--threads", threads, "--out", out});
    EXPECT_EQ(done.status, 2) << "a list and a range do not mix";
    const ProgramRun good =
        run_program({"sweep", trace_, "--cluster", cluster_, "--policy", "fifo,sjf+random",
                     "--load", "0.5,1", "--seeds", "1..3", "--threads", threads, "--out", out});
    EXPECT_EQ(good.status, 0) << good.err;
    std::ifstream stream(out);
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  };
  const std::string one = sweep("1");
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 1 + 2 * 3 * 2);
  EXPECT_EQ(one, sweep("3"));
  // Where the build has a page, the report is beside the points.
  const std::filesystem::path page = folder_ / "sweep1.html";
  if (!std::filesystem::exists(page)) GTEST_SKIP() << "this build has no report page";
  std::ifstream stream(page);
  EXPECT_THAT((std::string{std::istreambuf_iterator<char>(stream), {}}),
              HasSubstr(R"("kind":"sweep")"));
}

TEST_F(RunCommand, RefusesInOneLineWithWhatToDo) {
  const ProgramRun unknown = simulate({"--policy", "qsff"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no policy is named qsff (did you mean qssf?"));
  EXPECT_FALSE(std::filesystem::exists(run_)) << "nothing half-written";
  EXPECT_EQ(run_program({"simulate", folder_ / "missing.csv"}).status, 66);
  EXPECT_THAT(run_program({"simulate", folder_ / ""}).err,
              HasSubstr("must be a file, found a folder"));
  EXPECT_EQ(simulate({"--restart", "1,2"}).status, 2);
  EXPECT_EQ(simulate({"--profile", "gavel"}).status, 2);
  EXPECT_THAT(simulate({"--policy", "qssf+given"}).err, HasSubstr("have no predicted_s"));
  EXPECT_THAT(simulate({"--policy", "fifo+ftf"}).err,
              HasSubstr("order ftf requires a choice that decides in leases"));
  std::filesystem::create_directory(run_);
  std::ofstream(run_ + "/thesis.tex") << "precious";
  const ProgramRun full = simulate({"--policy", "fifo"});
  EXPECT_EQ(full.status, 69);
  EXPECT_THAT(full.err, HasSubstr("the folder is not empty and holds no earlier run"));
  EXPECT_TRUE(std::filesystem::exists(run_ + "/thesis.tex"));
}

TEST_F(RunCommand, DescribesPoliciesAsFilesThatRun) {
  const std::string mine = folder_.write(
      "mine.toml",
      "base = \"qssf\"\nname = \"mine\"\npass = \"easy:2\"\nplacement = \"best-fit\"\n");
  const ProgramRun told = run_program({"policy", "describe", mine});
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("pass = \"easy:2\""));
  EXPECT_EQ(simulate({"--policy", mine}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(run_ + "/mine/jobs.csv"));
  const std::string wrong =
      folder_.write("wrong.toml", "order = \"fifo\"\nplacment = \"random\"\n");
  const ProgramRun refused = run_program({"policy", "describe", wrong});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("wrong.toml:2:12: unknown key placment (did you mean placement?"));
}

TEST_F(RunCommand, ShowsAndInfersClusters) {
  EXPECT_THAT(run_program({"cluster", "show", "20x8"}).out, HasSubstr("20 nodes, 160 GPUs"));
  const ProgramRun inferred = run_program({"cluster", "infer", trace_});
  EXPECT_EQ(inferred.status, 0);
  EXPECT_THAT(inferred.out, testing::ContainsRegex("name = \"a\".*\nnodes = 8 .*\ngpus = 8"))
      << "the largest job asks 64 GPUs";
}

}  // namespace
}  // namespace almanac
