// SPDX-License-Identifier: Apache-2.0

/// \file
/// What newcomers get wrong: values of almanac.toml, options of the service, names of scripts.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class NewcomerCommand : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(NewcomerCommand, RefusesAWrongValueOfAlmanacTomlWithItsLine) {
  const std::string wrong = folder_.write("wrong.toml", "[serve]\n\npolicy = \"qsff\"\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"config", "show"}, {"policy", "list"}, {"queue"}}) {
    std::vector<std::string> words{"--config", wrong};
    words.insert(words.end(), command.begin(), command.end());
    const ProgramRun refused = run_program(words);
    EXPECT_EQ(refused.status, 65);
    EXPECT_THAT(refused.err, HasSubstr("wrong.toml:3:10: serve.policy: no policy is named qsff"));
  }
}

TEST_F(NewcomerCommand, ShowsTheDefaultsOfAlmanacToml) {
  const ProgramRun shown =
      run_program({"--config", folder_.write("empty.toml", ""), "config", "show", "-o", "json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  std::map<std::string, std::string> values;
  for (const json& each : json::parse(shown.out)) values[each["setting"]] = each["value"];
  EXPECT_EQ(values["machine.max_grace"], "15:00");
  EXPECT_EQ(values["machine.requeue_for"], "24:00:00");
  EXPECT_EQ(values["slurm.way"], "gateway if it is installed, else commands");
  EXPECT_THAT(values["serve.policy"], HasSubstr("almanac"));
  EXPECT_EQ(values["agent.secret"], "/etc/almanac/agent.secret");
}

TEST_F(NewcomerCommand, LeavesNoStateOfAServiceThatCannotStart) {
  const std::string state = folder_ / "state";
  EXPECT_EQ(run_program({"serve", "--state", state, "--policy", "qsff"}).status, 2);
  EXPECT_EQ(run_program({"serve", "--state", state, "--shadow", "qsff"}).status, 2);
  EXPECT_EQ(run_program({"serve", "--state", state, "--policy", folder_ / "none.toml"}).status, 66);
  EXPECT_EQ(run_program({"serve", "--state", state, "--limits", folder_ / "none.toml"}).status, 66);
  EXPECT_EQ(run_program({"serve", "--state", state, "--max-grace", "9 years"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(state));
}

TEST_F(NewcomerCommand, SaysThatAScriptIsMissing) {
  folder_.write("train.sh", "#!/bin/sh\n");
  const std::string wrong = folder_ / "trian.sh";
  const ProgramRun refused = run_program({"submit", "--dry-run", wrong});
  EXPECT_EQ(refused.status, 66);
  EXPECT_EQ(refused.err,
            fmt::format("almanac: {0}: there is no such script (did you mean train.sh?; "
                        "to run a command, put it after --: almanac submit -- {0} ...)\n",
                        wrong));
}

TEST_F(NewcomerCommand, DescribesPartsOfPolicies) {
  const ProgramRun proven = run_program({"policy", "describe", "proven"});
  ASSERT_EQ(proven.status, 0) << proven.err;
  EXPECT_THAT(proven.out, HasSubstr("proven: limit, past runs, training steps or a trained model"));
  EXPECT_THAT(proven.out, HasSubstr("estimate: which run times the policy expects"));
  EXPECT_THAT(proven.out, HasSubstr("easy+proven replaces the estimate limit of easy"));
  EXPECT_EQ(run_program({"help", "proven"}).out, proven.out);
  const ProgramRun easy = run_program({"policy", "describe", "+easy"});
  EXPECT_THAT(easy.out, HasSubstr("depth: number of blocked jobs that hold a reservation; a whole "
                                  "number from 1 to 1,000,000 (default 1)"));
  EXPECT_THAT(run_program({"policy", "describe", "easy"}).out,
              HasSubstr("the pass easy: almanac policy describe +easy"));
  EXPECT_EQ(run_program({"help", "gittins"}).out,
            run_program({"policy", "describe", "gittins"}).out);
  EXPECT_THAT(run_program({"help", "gitins"}).err, HasSubstr("did you mean gittins?"));
  EXPECT_THAT(run_program({"hlep"}).err, HasSubstr("did you mean help?"));
  const json as_json = json::parse(run_program({"policy", "describe", "proven", "-o", "json"}).out);
  EXPECT_EQ(as_json.at(0).at("slot"), "estimate");
}

TEST_F(NewcomerCommand, MarksNoFractionThatIsNoNumber) {
  const ProgramRun refused =
      run_program({"trace", "generate", "--preset", "venus", "--requeue", "nan"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("nan"));
}

TEST_F(NewcomerCommand, SaysWhomAlmanacStopsAndHowLongJobsWaitAtMost) {
  const std::string usual = run_program({"policy", "describe", "almanac"}).out;
  EXPECT_THAT(usual, HasSubstr("Preempts only jobs submitted with --requeue"));
  EXPECT_THAT(usual, HasSubstr("waited 4 times as long as under easy, plus 14 days"));
  const std::string tight =
      run_program({"policy", "describe", "almanac+preempt:none:2:1.5:7200"}).out;
  EXPECT_THAT(tight, HasSubstr("Preempts no job."));
  EXPECT_THAT(tight, HasSubstr("waited 1.5 times as long as under easy, plus 2 h"));
}

TEST_F(NewcomerCommand, ClaimsNoStopsOfAPolicyThatStopsNone) {
  const std::string none = run_program({"policy", "describe", "almanac+preempt:none"}).out;
  EXPECT_THAT(none, HasSubstr("Preempts no job."));
  EXPECT_THAT(none, Not(HasSubstr("preempts running jobs")));
  EXPECT_THAT(run_program({"policy", "describe", "almanac"}).out,
              HasSubstr("preempts running jobs that may be stopped"));
  EXPECT_THAT(run_program({"policy", "describe", "kueue"}).out,
              HasSubstr("# It preempts running jobs only where field preemption of a queue"));
}

TEST_F(NewcomerCommand, DescribesAPartWithItsValues) {
  const std::string part = run_program({"policy", "describe", "preempt:all"}).out;
  EXPECT_THAT(part, HasSubstr("preempt:all: EASY backfill"));
  EXPECT_THAT(part, HasSubstr("qssf+preempt:all replaces the pass strict"));
  EXPECT_THAT(run_program({"policy", "describe", "preempt:some"}).err,
              HasSubstr("stops must be one of marked, all, none, found \"some\""));
}

TEST_F(NewcomerCommand, RefusesValuesThatWouldHaveNoEffect) {
  const auto refusal = [](const char* policy) {
    return run_program({"policy", "describe", policy}).err;
  };
  EXPECT_THAT(refusal("almanac+preempt:"), HasSubstr("a value must follow the last colon"));
  EXPECT_THAT(refusal("almanac+preempt:all:"), HasSubstr("a value must follow the last colon"));
  EXPECT_THAT(refusal("almanac+preempt:marked:2:0:86400"),
              HasSubstr("grace_s has no effect while bound is 0"));
  EXPECT_EQ(refusal("almanac+preempt:marked:2:0:0"), "");
  EXPECT_THAT(run_program({"submit", "--requeue", "--no-requeue", "--", "true"}).err,
              HasSubstr("--requeue and --no-requeue exclude each other"));
}

TEST_F(NewcomerCommand, ReadsTheFormerNameOfAParameter) {
  const json parts =
      json::parse(run_program({"policy", "describe", "themis:kept=0.5", "-o", "json"}).out);
  EXPECT_EQ(parts.at("whole"), "themis:left_out=0.5");
}

TEST_F(NewcomerCommand, ClaimsNoSharedGpusOfAPolicyThatSharesNone) {
  const json gittins =
      json::parse(run_program({"policy", "describe", "gittins", "-o", "json"}).out);
  EXPECT_EQ(gittins.at("packing"), "alone");
  EXPECT_THAT(gittins.at("does").dump(), Not(HasSubstr("shares GPUs")));
}

// Job 2 was pending when the log was taken. Almanac would start it when job 1 has ended.
TEST_F(NewcomerCommand, TellsPendingJobsFromWithdrawnOnes) {
  const std::string run = folder_ / "run";
  const std::string log = folder_.write("log.csv",
                                        "job_id,submit_s,run_s,gpus,end_s,state\n"
                                        "1,0,100,8,,COMPLETED\n2,10,0,8,,PENDING\n"
                                        "3,20,0,8,50,CANCELLED\n");
  const ProgramRun done =
      run_program({"simulate", log, "--cluster", "1x8", "--policy", "fifo", "--out", run});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("1 job was pending when the log was taken"));
  EXPECT_THAT(done.err, HasSubstr("1 job never ran: each waits until it was cancelled"));
  EXPECT_THAT(done.out, HasSubstr("2 jobs that never ran in the log are in no row"));
  EXPECT_THAT(text_of(run + "/fifo/jobs.csv"), HasSubstr("\n2,,,,8,10,,100,,0,,0,PENDING,\n"));
  for (const bool replays : {false, true}) {
    std::vector<std::string> words = {"explain", run, "2"};
    if (replays) words.emplace_back("--replay");
    EXPECT_THAT(run_program(words).out, HasSubstr("pending when the log was taken; it would have "
                                                  "started "));
    words[2] = "3";
    EXPECT_THAT(run_program(words).out, HasSubstr("without having run"));
  }
}

TEST_F(NewcomerCommand, NamesEachColumnThatANarrowTableLeavesOut) {
  const std::string log =
      folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,9,8\n2,1,9,8\n");
  const std::vector<std::string> words = {"simulate", log,        "--cluster",
                                          "1x8",      "--policy", "fifo,sjf"};
  const ProgramRun wide = run_program(words);
  ::setenv("COLUMNS", "80", 1);
  const ProgramRun narrow = run_program(words);
  ::unsetenv("COLUMNS");
  const auto shown = [](const std::string& out) { return out.substr(0, out.find('\n')); };
  std::string said = narrow.out.substr(narrow.out.find("(Too wide for 80 columns: "));
  std::replace(said.begin(), said.end(), '\n', ' ');
  for (const std::string column : {"p50 wait", "p90 wait", "jobs that waited", "worst user's wait",
                                   "GPU allocation", "preemptions"}) {
    ASSERT_THAT(shown(wide.out), HasSubstr(column));
    EXPECT_NE(shown(narrow.out).find(column) != std::string::npos,
              said.find(column) != std::string::npos)
        << column << " is shown or named: " << narrow.out;
  }
}

}  // namespace
}  // namespace almanac
