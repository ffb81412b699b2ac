// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service and its commands as a user has them: two programs, real processes.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "support/service_commands.h"

namespace almanac {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// `almanac serve` on a folder of its own, with GPUs that are only numbers.
class ServiceProcess : public RunningProgram {
 public:
  explicit ServiceProcess(const std::string& state, const std::vector<std::string>& more = {},
                          const std::vector<std::string>& gpus = {"--gpus", "4"})
      : RunningProgram(words(state, more, gpus), state + ".log") {}

 private:
  static std::vector<std::string> words(const std::string& state,
                                        const std::vector<std::string>& more,
                                        const std::vector<std::string>& gpus) {
    std::vector<std::string> made{"serve", "--state", state};
    made.insert(made.end(), gpus.begin(), gpus.end());
    made.insert(made.end(), more.begin(), more.end());
    return made;
  }
};

class CommandTest : public ServiceCommands {};

TEST_F(CommandTest, SaysThatNoServiceAnswers) {
  const ProgramRun queue = run({"queue"});
  EXPECT_EQ(queue.status, 69);
  EXPECT_EQ(queue.err, "almanac: no service answers at " + state_ +
                           "/almanac.sock (start one with `almanac serve`)\n");
}

TEST_F(CommandTest, RunsAJobFromSubmissionToHistory) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string job = submit({"--gpus", "2", "--comment", "for the paper", "--", "sh", "-c",
                                  "echo $CUDA_VISIBLE_DEVICES"});
  EXPECT_EQ(job, "1");
  ASSERT_TRUE(ends_as(job, "COMPLETED"));
  EXPECT_EQ(run({"logs", "-f", job}).out, "0,1\n");
  EXPECT_THAT(run({"show", job}).out, HasSubstr("State        COMPLETED"));
  EXPECT_THAT(run({"show", job}).out, HasSubstr("\nComment      for the paper\n"));
  EXPECT_THAT(run({"jobs"}).out, HasSubstr(" CD "));
  EXPECT_THAT(run({"explain", job}).out, testing::Not(""));
  const ProgramRun history = run({"history", "-o", "csv"});
  const std::string log = folder_.write("history.csv", history.out);
  const ProgramRun info = run_program({"trace", "info", log});
  EXPECT_EQ(info.status, 0) << info.err << history.out;
}

TEST_F(CommandTest, GivesInstancesToJobsThatAskThem) {
  const std::string box = folder_.write("box.toml",
                                        "[node]\ngpus = 2\ngpu_type = \"1g.10gb\"\n"
                                        "gpu_memory_gb = 9.5\n[[vc]]\nname = \"box\"\nnodes = 1\n");
  ServiceProcess service(state_, {}, {"--cluster", box});
  wait_for_service();
  const std::string job = submit({"--vc", "box", "--gpu-profile", "1g.10gb", "--gpu-mem", "8G",
                                  "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"});
  ASSERT_TRUE(ends_as(job, "COMPLETED"));
  EXPECT_EQ(run({"logs", "-f", job}).out, "0\n");
  EXPECT_THAT(run({"show", job}).out, HasSubstr("GPUs         1g.10gb\nGPU memory   8 GB\n"));
  submit({"--vc", "box", "--gpu-profile", "1g.10gb", "--gpus", "2", "--hold", "--", "true"});
  EXPECT_THAT(run({"queue"}).out, HasSubstr(" 2x1g.10gb "));
  const auto refusal = [&](const std::string& profile, const std::string& memory) {
    return run({"submit", "--vc", "box", "--gpu-profile", profile, "--gpu-mem", memory, "--",
                "true"})
        .err;
  };
  EXPECT_THAT(refusal("2g.20gb", "8G"),
              HasSubstr("needs a 2g.20gb, but the nodes it can use have none"));
  EXPECT_THAT(refusal("1g.10gb", "20G"), HasSubstr("needs 20 GB of GPU memory, more than any GPU"));
  EXPECT_THAT(refusal("1g.11gb", "8G"), HasSubstr("did you mean 1g.10gb?"));
}

// A service without limits has no such column.
TEST_F(CommandTest, ShowsTheLimitsOfTenants) {
  const auto tenants = [&](const std::string& limit) {
    const std::string box = folder_.write("box.toml",
                                          "[node]\ngpus = 4\n[[vc]]\nname = \"box\"\nnodes = 1\n"
                                          "[[tenant]]\nname = \"vision\"\nguarantee = 2\n" +
                                              limit + "[[tenant]]\nname = \"guests\"\n");
    const ServiceProcess service(state_, {}, {"--cluster", box});
    wait_for_service();
    return run({"tenants"});
  };
  const ProgramRun shown = tenants("limit = 3\n");
  EXPECT_THAT(shown.out, StartsWith("TENANT  GUARANTEE  LIMIT  GPUS")) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\nvision          2      3     0"));
  EXPECT_THAT(shown.out, HasSubstr("\nguests                       0"));
  EXPECT_THAT(tenants("").out, StartsWith("TENANT  GUARANTEE  GPUS"));
}

TEST_F(CommandTest, ForecastsAJobThatNobodyHasSubmitted) {
  ServiceProcess service(state_);
  wait_for_service();
  const ProgramRun free = run({"forecast", "--gpus", "1,4", "--time", "1:00:00"});
  EXPECT_EQ(free.status, 0) << free.err;
  EXPECT_THAT(free.out, HasSubstr("immediately"));
  ASSERT_TRUE(
      ends_as(submit({"--gpus", "4", "--time", "2:00:00", "--", "sleep", "600"}), "RUNNING"));
  const ProgramRun full = run({"forecast", "--gpus", "4", "--time", "1:00:00", "-o", "json"});
  ASSERT_EQ(full.status, 0) << full.err;
  const auto rows = nlohmann::json::parse(full.out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_LE(rows[0].at("start_from_s"), rows[0].at("start_by_s"));
  EXPECT_LE(rows[0].at("start_by_s"), rows[0].at("end_by_s"));
  const ProgramRun never = run({"forecast", "--gpus", "5"});
  EXPECT_THAT(never.out, HasSubstr("never"));
  EXPECT_THAT(never.err, HasSubstr("with 5 GPUs, it can never run here: "));
  EXPECT_EQ(run({"forecast"}).status, 2);
}

TEST_F(CommandTest, ForecastsWhatAChangeWouldDo) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string first = submit({"--gpus", "4", "--time", "2:00:00", "--", "sleep", "600"});
  ASSERT_TRUE(ends_as(first, "RUNNING"));
  const std::string second = submit({"--gpus", "4", "--time", "1:00:00", "--", "sleep", "600"});
  const ProgramRun changed = run({"forecast", "--if", "cancel " + first, "-o", "json"});
  ASSERT_EQ(changed.status, 0) << changed.err;
  const auto rows = nlohmann::json::parse(changed.out);
  ASSERT_EQ(rows.size(), 2U) << changed.out;
  EXPECT_EQ(rows[0].at("job_id"), second);
  EXPECT_LT(rows[0].at("start_by_after_s"), rows[0].at("start_by_before_s"));
  EXPECT_EQ(rows[1].at("job_id"), first);
  EXPECT_EQ(rows[1].at("cancelled"), true);
  EXPECT_TRUE(rows[1].at("end_by_after_s").is_null());
  const ProgramRun table = run({"forecast", "--if", "add 1 node", "--if", "policy sjf"});
  EXPECT_THAT(table.out, HasSubstr("After add 1 node, policy sjf: start earlier 1, later 0"));
  EXPECT_EQ(run({"forecast", "--if", "remove 1 node"}).status, 2);
  EXPECT_THAT(run({"forecast", "--if", "cancel 99"}).err, HasSubstr("no job 99 runs or waits"));
}

TEST_F(CommandTest, ExplainsWhatWouldStartAJobNow) {
  ServiceProcess service(state_);
  wait_for_service();
  const auto ask = [&] {
    return submit({"--gpus", "4", "--time", "2:00:00", "--", "sleep", "600"});
  };
  const std::string runs = ask();
  ASSERT_TRUE(ends_as(runs, "RUNNING"));
  const std::string next = ask();
  const std::string last = ask();
  const std::string ended = "if job " + runs + " ended (4 GPUs)";
  EXPECT_EQ(run({"explain", next, "--what-if"}).out,
            "job " + next + " would start now\n  " + ended + "\n");
  const ProgramRun both = run({"explain", last, "--what-if", "-o", "json"});
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_EQ(nlohmann::json::parse(both.out).at("changes"),
            nlohmann::json::parse(R"([["if it were first in the queue", ")" + ended + R"("]])"));
  EXPECT_THAT(run({"explain", runs, "--what-if"}).err,
              HasSubstr("job " + runs + " does not wait for GPUs"));
}

TEST_F(CommandTest, SaysWhatAJobUsedOfWhatItHolds) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string job =
      submit({"--gpus", "1", "--cpus", "1", "--mem", "1G", "--time", "1:00:00", "--", "sh", "-c",
              "while :; do echo gpu_use 0.5 >> $ALMANAC_PROGRESS; sleep 0.1; done"});
  ASSERT_TRUE(soon([&] {
    const std::string told = run({"efficiency", job}).out;
    return told.find("1 held, computing 50 % of the time") != std::string::npos &&
           told.find("used of 1 on average") != std::string::npos &&
           told.find("GB used at most of 1.0 GB") != std::string::npos;
  })) << run({"efficiency", job}).out
      << run({"efficiency", job}).err;
  EXPECT_THAT(run({"efficiency", "--user", "nobody-here"}).err, HasSubstr("no job matches"));
  EXPECT_EQ(run({"cancel", job}).status, 0);
}

TEST_F(CommandTest, QueuesHoldsReleasesAndCancels) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string first = submit({"--gpus", "4", "--", "sleep", "600"});
  ASSERT_TRUE(ends_as(first, "RUNNING"));
  const std::string second = submit({"--gpus", "4", "--time", "1:00:00", "--", "sleep", "600"});
  const std::string held = submit({"--gpus", "1", "--hold", "--name", "later", "--", "true"});
  const std::string queue = run({"queue"}).out;
  EXPECT_THAT(queue, StartsWith("JOBID  NAME"));
  EXPECT_THAT(queue, HasSubstr(" R "));
  EXPECT_THAT(queue, HasSubstr("(Held)"));
  EXPECT_EQ(run({"cancel", "--dry-run", first}).out, "would cancel job 1\n");
  EXPECT_EQ(run({"cancel", first, second}).status, 0);
  ASSERT_TRUE(ends_as(first, "CANCELLED"));
  EXPECT_EQ(run({"release", held}).status, 0);
  ASSERT_TRUE(ends_as(held, "COMPLETED"));
  const ProgramRun gone = run({"cancel", "77"});
  EXPECT_EQ(gone.status, 66);
  EXPECT_THAT(gone.err, HasSubstr("77"));
}

TEST_F(CommandTest, QueueSaysByWhenAJobEndsOnlyWhereThatIsKnown) {
  ServiceProcess service(state_);
  wait_for_service();
  const auto end_by = [&](const std::string& job) -> std::string {
    std::istringstream lines(run({"queue", "--fields", "job_id,end_s", "--no-header"}).out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string id;
      if (!(words >> id) || id != job) continue;
      std::string rest;
      std::getline(words >> std::ws, rest);
      return rest;
    }
    return "no such job";
  };
  const std::string open = submit({"--gpus", "1", "--", "sleep", "600"});
  ASSERT_TRUE(ends_as(open, "RUNNING"));
  EXPECT_EQ(end_by(open), "-") << "no limit, and nothing like it has ended yet";
  const std::string limited = submit({"--gpus", "1", "--time", "1:00:00", "--", "sleep", "600"});
  ASSERT_TRUE(ends_as(limited, "RUNNING"));
  EXPECT_TRUE(soon([&] { return end_by(limited).find(':') != std::string::npos; }))
      << run({"queue"}).out;
  const std::string router = submit({"--service", "--name", "chat", "--replicas", "1", "--port",
                                     "18953", "--gpus", "1", "--", "sleep", "600"});
  ASSERT_TRUE(ends_as(router, "RUNNING"));
  EXPECT_EQ(end_by(router), "never");
  EXPECT_EQ(run({"cancel", "--all"}).status, 0);
}

TEST_F(CommandTest, CancelsByUserStateAndName) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string runs = submit({"--gpus", "4", "--name", "train", "--", "sleep", "600"});
  ASSERT_TRUE(ends_as(runs, "RUNNING"));
  const std::string waits = submit({"--gpus", "4", "--name", "train", "--", "sleep", "600"});
  const std::string other = submit({"--gpus", "4", "--name", "other", "--", "sleep", "600"});
  const std::string array = submit({"--hold", "--array", "0-9", "--", "true"});
  EXPECT_EQ(run({"cancel"}).status, 2) << "of none it is not told which";
  EXPECT_EQ(run({"cancel", "--name", "train", "-t", "PD"}).out, "job " + waits + " cancelled\n");
  EXPECT_EQ(state_of(runs), "RUNNING");
  EXPECT_EQ(run({"cancel", array + "_[0-2,5]," + other}).out,
            "job " + array + "_[0-2,5] cancelled\njob " + other + " cancelled\n");
  EXPECT_EQ(state_of(array + "_5"), "CANCELLED");
  EXPECT_EQ(state_of(array + "_6"), "PENDING");
  const ProgramRun none = run({"cancel", "--user", "nobody-here"});
  EXPECT_EQ(none.status, 0);
  EXPECT_THAT(none.err, HasSubstr("no pending or running job matches"));
  EXPECT_EQ(run({"cancel", "--all"}).status, 0);
  EXPECT_TRUE(ends_as(runs, "CANCELLED"));
  EXPECT_TRUE(ends_as(array, "CANCELLED"));
}

TEST_F(CommandTest, ShowsTheLastLinesOfALog) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string job = submit({"--", "sh", "-c", "seq 1 300000; printf end"});
  ASSERT_TRUE(ends_as(job, "COMPLETED"));
  EXPECT_EQ(run({"logs", "-n", "3", job}).out, "299999\n300000\nend");
  EXPECT_EQ(run({"logs", "--lines", "0", job}).out, "");
  // Further back than one answer reaches.
  EXPECT_THAT(run({"logs", "-n", "250001", job}).out, StartsWith("50001\n50002\n"));
  EXPECT_THAT(run({"logs", "-n", "999999", job}).out, StartsWith("1\n2\n"));
}

TEST_F(CommandTest, TakesDependenciesAsSlurmSpellsThem) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string bad = submit({"--", "false"});
  const std::string good = submit({"--", "true"});
  const std::string either =
      submit({"--dependency", "afterok:" + bad + "?afterok:" + good, "--", "true"});
  const std::string both = submit({"--dependency", "afterok:" + bad + ":" + good, "--", "true"});
  EXPECT_TRUE(ends_as(either, "COMPLETED"));
  EXPECT_TRUE(ends_as(both, "CANCELLED"));
  const std::string script = folder_.write(
      "job.sh", "#!/bin/sh\n#SBATCH --dependency=afternotok:" + bad + ",singleton\ntrue\n");
  EXPECT_TRUE(ends_as(submit({script}), "COMPLETED"));
  const ProgramRun refused = run({"submit", "--dependency", "aftercorr:1", "--", "true"});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("--dependency=aftercorr:1: is not supported here"));
}

TEST_F(CommandTest, ListsAsJsonAllJobsHoweverManyThereAre) {
  ServiceProcess service(state_);
  wait_for_service();
  submit({"--array", "0-10004", "--hold", "--", "true"});  // an answer has 10,000 at most
  for (const char* const command : {"jobs", "queue"}) {
    const auto said = nlohmann::json::parse(run({command, "-o", "json"}).out);
    ASSERT_EQ(said.at("jobs").size(), 10'005U) << command;
    EXPECT_EQ(said.at("jobs").back().at("number"), 10'005) << command;
    EXPECT_FALSE(said.contains("next")) << command;
  }
}

TEST_F(CommandTest, RunsAnArrayAndAScript) {
  ServiceProcess service(state_);
  wait_for_service();
  const std::string script = folder_.write(
      "job.sh", "#!/bin/sh\n#ALMANAC --array 2,3 --gpus 1\necho $ALMANAC_ARRAY_TASK_ID $1\n");
  // The command line counts before the script.
  const std::string array = submit({"--array", "1,4", script, "word"});
  EXPECT_THAT(run({"show", array + "_1"}).out, HasSubstr("GPUs         1\n"));
  ASSERT_TRUE(ends_as(array + "_1", "COMPLETED"));
  ASSERT_TRUE(ends_as(array + "_4", "COMPLETED"));
  EXPECT_EQ(run({"logs", array + "_4"}).out, "4 word\n");
}

TEST_F(CommandTest, WaitsForTheEndAndTakesItsExitStatus) {
  ServiceProcess service(state_);
  wait_for_service();
  const auto ends = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"submit", "--wait", "--directory", folder_ / ""});
    return run(words).status;
  };
  EXPECT_EQ(ends({"--", "sh", "-c", "sleep 0.2; exit 7"}), 7);
  EXPECT_EQ(ends({"--", "true"}), 0);
  EXPECT_EQ(ends({"--array", "3,5,4", "--", "sh", "-c", "exit $ALMANAC_ARRAY_TASK_ID"}), 5);
  EXPECT_EQ(ends({"--", "sh", "-c", "kill -9 $$"}), 1);
  // One of several, and why it has no status of its own.
  const ProgramRun said = run({"submit", "--wait", "--directory", folder_ / "", "--array", "0-2",
                               "--", "sh", "-c", "[ $ALMANAC_ARRAY_TASK_ID != 1 ] || kill -9 $$"});
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.err, HasSubstr("_1 has ended: FAILED, signal 9"));
  EXPECT_THAT(said.err, HasSubstr("2 of 3 tasks succeeded"));
  const ProgramRun one = run({"submit", "--wait", "--directory", folder_ / "", "--out", "x.log",
                              "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(one.status, 3);
  EXPECT_THAT(one.err, HasSubstr("has ended: FAILED, exit status 3, after 00:00:00; log: /"));
  EXPECT_THAT(one.err, HasSubstr("/x.log\n"));
}

TEST_F(CommandTest, WaitsForNoJobThatIsGone) {
  auto service = std::make_unique<ServiceProcess>(state_);
  wait_for_service();
  auto waits = std::async(std::launch::async, [&] {
    return run({"submit", "--wait", "--directory", folder_ / "", "--hold", "--", "true"}).status;
  });
  ASSERT_TRUE(ends_as("1", "PENDING"));
  service.reset();
  for (const char* const part : {"", "-wal", "-shm"}) {
    std::filesystem::remove(state_ + "/almanac.db" + part);
  }
  service = std::make_unique<ServiceProcess>(state_);
  EXPECT_NE(waits.get(), 0);
}

TEST_F(CommandTest, KeepsTheUmaskOfTheShellThatSubmits) {
  ServiceProcess service(state_);
  wait_for_service();
  const mode_t before = ::umask(027);
  const std::string job = submit({"--out", "said", "--", "sh", "-c", "umask"});
  ::umask(before);
  ASSERT_TRUE(ends_as(job, "COMPLETED"));
  EXPECT_EQ(run({"logs", job}).out, "0027\n");
}

TEST_F(CommandTest, SaysAtSubmissionWhatIsExpected) {
  ServiceProcess service(state_, {"--speed", "genie", "--policy", "fifo"});
  wait_for_service();
  std::vector<std::string> jobs{submit({"--gpus", "4", "--", "sleep", "600"})};
  ASSERT_TRUE(ends_as(jobs.front(), "RUNNING"));
  // It is not waited for long: on a busy machine a later one hears it.
  nlohmann::json told;
  ASSERT_TRUE(soon([&] {
    const ProgramRun said =
        run({"submit", "--json", "--directory", folder_ / "", "--gpus", "1", "--model", "resnet50",
             "--batch", "64", "--steps", "1000", "--deadline", "now+1hour", "--time", "2:00:00",
             "--", "sleep", "600"});
    EXPECT_EQ(said.status, 0) << said.err;
    told = nlohmann::json::parse(said.out);
    jobs.push_back(told.at("job").at("job_id"));
    return told.at("job").contains("expected") &&
           told.at("job").at("expected").contains("with_other_gpus");
  }));
  EXPECT_EQ(told.at("numbers").size(), 1U);
  EXPECT_EQ(told.at("job").at("state"), "PENDING");
  const auto& expected = told.at("job").at("expected");
  EXPECT_TRUE(expected.contains("end_by_s") && expected.contains("deadline_probability"));
  const auto& others = expected.at("with_other_gpus");
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others.at(1).at("gpus"), 4);
  EXPECT_TRUE(others.at(1).contains("deadline_probability"));
  EXPECT_THAT(run({"show", jobs.back()}).out, HasSubstr("with 4 GPUs: ends by "));
  // Jobs outlive their service; the last first, so that none begins meanwhile.
  std::reverse(jobs.begin(), jobs.end());
  std::vector<std::string> cancel{"cancel"};
  cancel.insert(cancel.end(), jobs.begin(), jobs.end());
  EXPECT_EQ(run(cancel).status, 0);
  EXPECT_TRUE(ends_as(jobs.back(), "CANCELLED"));
}

TEST_F(CommandTest, SetsThePolicyAndDrainsNodes) {
  ServiceProcess service(state_);
  wait_for_service();
  EXPECT_EQ(run({"policy", "set", "fifo"}).out, "policy  fifo\n");
  EXPECT_EQ(run({"policy", "show"}).out, "policy  fifo\n");
  EXPECT_EQ(run({"policy", "set", "fofi"}).status, 2);
  const auto nodes = nlohmann::json::parse(run({"nodes", "-o", "json"}).out).at("nodes");
  EXPECT_EQ(nodes.at(0).at("gpus").size(), 4U);
  EXPECT_THAT(run({"nodes", "--drain", nodes.at(0).at("name")}).out, HasSubstr("drained"));
}

TEST_F(CommandTest, RefusesWhatMakesNoSense) {
  ServiceProcess service(state_);
  wait_for_service();
  EXPECT_EQ(run({"submit", "--gpus", "5", "--", "true"}).status, 2);
  EXPECT_EQ(run({"submit", "--mem", "32", "--", "true"}).status, 2);
  EXPECT_EQ(run({"submit", "--time", "10", "--", "true"}).status, 2);
  EXPECT_EQ(run({"submit", "--array", "5-1", "--", "true"}).status, 2);
  const ProgramRun late = run({"submit", "--deadline", "2020-01-01T00:00", "--", "true"});
  EXPECT_EQ(late.status, 2);
  EXPECT_THAT(late.err, HasSubstr("has passed (give a later --deadline, or none)"));
  EXPECT_EQ(run({"submit"}).status, 2);
  EXPECT_EQ(run({"submit", folder_.write("no-interpreter", "true\n")}).status, 65);
}

TEST_F(CommandTest, RefusesToTalkInTheOpen) {
  const auto serve = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"serve", "--state", state_, "--gpus", "1"});
    return run_program(more);
  };
  const ProgramRun open = serve({"--listen", "0.0.0.0:0"});
  EXPECT_EQ(open.status, 2);
  EXPECT_THAT(open.err, HasSubstr("--tls-cert"));
  EXPECT_EQ(serve({"--listen", "0.0.0.0:0", "--tls-cert", "none.pem"}).status, 2) << "no key";
  EXPECT_NE(
      serve({"--listen", "0.0.0.0:0", "--tls-cert", "none.pem", "--tls-key", "none.key"}).status,
      0);
}

TEST_F(CommandTest, MakesTokensThatAskAsTheirUser) {
  ServiceProcess service(state_, {"--listen", "127.0.0.1:0"});
  wait_for_service();
  std::string log;
  ASSERT_TRUE(soon([&] {
    std::ifstream file(state_ + ".log");
    log.assign(std::istreambuf_iterator<char>(file), {});
    const std::size_t url = log.find("http://127.0.0.1:");
    return url != std::string::npos && log.find('/', url + 8) != std::string::npos;
  })) << log;
  std::string url = log.substr(log.find("http://127.0.0.1:"));
  url = url.substr(0, url.find('/', 8));
  const std::string job = submit({"--hold", "--", "true"});
  const ProgramRun made = run({"token", "create", "--scope", "own", "--name", "laptop"});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string token = made.out.substr(0, made.out.find('\n'));
  const auto cancel = [&] { return run_program({"cancel", job, "--url", url}); };
  EXPECT_THAT(cancel().err, HasSubstr("a change requires a token"));
  ::setenv("ALMANAC_TOKEN", token.c_str(), 1);
  const ProgramRun held = run_program({"hold", job, "--url", url});
  EXPECT_EQ(held.status, 0) << held.err;
  const std::string list = run({"token", "list"}).out;
  EXPECT_THAT(list, HasSubstr("laptop"));
  EXPECT_THAT(list, testing::Not(HasSubstr(token)));
  const std::size_t row = list.find('\n') + 1;
  EXPECT_EQ(run({"token", "revoke", list.substr(row, list.find(' ', row) - row)}).status, 0);
  EXPECT_NE(cancel().status, 0);
  ::unsetenv("ALMANAC_TOKEN");
  EXPECT_EQ(run({"cancel", job}).status, 0);
}

TEST_F(CommandTest, BacksUpTheStoreAndRestoresIt) {
  auto service = std::make_unique<ServiceProcess>(state_);
  wait_for_service();
  const std::string kept = submit({"--hold", "--", "true"});
  const std::string copy = folder_ / "copy.db";
  const ProgramRun backed = run_program({"backup", copy, "--state", state_});
  EXPECT_EQ(backed.status, 0) << backed.err;
  const std::string later = submit({"--hold", "--", "true"});
  EXPECT_EQ(run_program({"restore", copy, "--state", state_}).status, 69) << "while it runs";
  EXPECT_EQ(service->end(SIGTERM), 0);
  const ProgramRun restored = run_program({"restore", copy, "--state", state_});
  EXPECT_EQ(restored.status, 0) << restored.err;
  service = std::make_unique<ServiceProcess>(state_);
  wait_for_service();
  EXPECT_EQ(state_of(kept), "PENDING");
  EXPECT_THAT(state_of(later), HasSubstr("there is no job"));
}

TEST_F(CommandTest, GoesOnAfterTheServiceWasKilled) {
  auto service = std::make_unique<ServiceProcess>(state_);
  wait_for_service();
  const std::string job = submit({"--", "sh", "-c", "sleep 3; echo done"});
  ASSERT_TRUE(ends_as(job, "RUNNING"));
  service->end(SIGKILL);
  EXPECT_EQ(run({"queue"}).status, 69);
  service = std::make_unique<ServiceProcess>(state_);
  wait_for_service();
  ASSERT_TRUE(ends_as(job, "COMPLETED"));
  EXPECT_EQ(run({"logs", job}).out, "done\n");
  EXPECT_EQ(service->end(SIGTERM), 0);
}

TEST(ServeCommandTest, SaysThatTheAddressSpaceIsTooSmall) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs more of it by itself";
#endif
  const TemporaryFolder folder;
  const char* const program = std::getenv("ALMANAC_PROGRAM");
  const std::string command = std::string("ulimit -v 150000; ") +
                              (program == nullptr ? "almanac" : program) + " serve --state " +
                              (folder / "state") + " --gpus 8 2> " + (folder / "said");
  EXPECT_NE(std::system(command.c_str()), 0);
  std::ifstream file(folder / "said");
  const std::string said{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(said, HasSubstr("almanac: cannot start a thread: "));
  EXPECT_THAT(said, HasSubstr("ulimit -v"));
}

}  // namespace
}  // namespace almanac
