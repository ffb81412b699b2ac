// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac tune run` at a real `almanac serve`, with shell scripts as trials; also where the
/// command and the service are killed in the middle.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "process/job.h"
#include "support/run_program.h"

namespace almanac {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class TuneRun : public testing::Test {
 protected:
  /// Its jobs outlive the service, so they are cancelled first.
  void TearDown() override {
    for (const std::string& job : jobs_that_run()) run({"cancel", "--now", job});
    soon([&] { return jobs_that_run().empty(); });
  }

  static std::string program() {
    const char* const told = std::getenv("ALMANAC_PROGRAM");
    return told == nullptr ? "almanac" : told;
  }
  void serve(const std::string& policy, int gpus) {
    auto started = process::Job::start({.argv = {program(), "serve", "--state", state_, "--gpus",
                                                 std::to_string(gpus), "--policy", policy}});
    ASSERT_TRUE(started);
    serves_.push_back(std::make_unique<process::Job>(*std::move(started)));
    ASSERT_TRUE(soon([&] { return run({"queue"}).status == 0; }));
  }
  std::unique_ptr<process::Job> begin_tuning() const {
    write("err", "");  // what is read from now on, this one said
    auto started =
        process::Job::start({.argv = {"sh", "-c", "exec \"$0\" \"$@\" >out 2>err", program(),
                                      "tune", "run", "s.toml", "--socket", socket()},
                             .directory = folder_ / ""});
    EXPECT_TRUE(started);
    return std::make_unique<process::Job>(*std::move(started));
  }
  static void kill(process::Job& job) {
    ::kill(job.process(), SIGKILL);
    EXPECT_TRUE(soon([&] { return job.ended().has_value(); }));
  }
  /// Its exit status; -1 where it does not end.
  static int wait(process::Job& job) {
    return soon([&] { return job.ended().has_value(); }) ? job.ended()->status : -1;
  }
  std::string socket() const { return state_ + "/almanac.sock"; }
  ProgramRun run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--socket", socket()});
    return run_program(words);
  }
  static bool soon(const std::function<bool()>& holds) {
    for (int each = 0; each < 900; ++each) {
      if (holds()) return true;
      std::this_thread::sleep_for(25ms);
    }
    return false;
  }
  std::vector<std::string> jobs_that_run() const {
    std::vector<std::string> made;
    const json all = json::parse(run({"queue", "-o", "json"}).out, nullptr, false);
    if (!all.is_object()) return made;
    for (const json& each : all.value("jobs", json::array())) made.push_back(each.at("job_id"));
    return made;
  }
  /// The trials, the best first.
  std::vector<json> trials() const {
    const json all = json::parse(run({"tune", "show", "s", "-o", "json"}).out, nullptr, false);
    return all.is_object() ? all.at("trials").get<std::vector<json>>() : std::vector<json>();
  }
  json trial(const std::string& name) const {
    for (const json& each : trials()) {
      if (each.at("job").at("name") == name) return each;
    }
    return {};
  }
  bool has_reported(const std::string& name) const { return trial(name).contains("best"); }
  static std::string state(const json& trial) {
    return trial.is_object() ? trial.at("job").at("state").get<std::string>() : "";
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// A space of a grid over x, whose trials run `script` in the test's folder.
  void write_space(const std::string& x, const std::string& script) const {
    write("trial.sh", script);
    write("s.toml",
          "command = [\"sh\", \"trial.sh\", \"{x}\", \"{trial}\"]\nsteps = 100\nsearch = \"grid\"\n"
          "[ask]\ngpus = 1\ncpus = 0.1\ngrace = \"1s\"\nout = \"/dev/null\"\ndirectory = \"" +
              (folder_ / "") + "\"\n[space]\nx = " + x + "\n");
  }

  TemporaryFolder folder_;
  std::string state_ = folder_ / "state";
  /// Also those that were killed: with one of these goes all that it started.
  std::vector<std::unique_ptr<process::Job>> serves_;
};

TEST_F(TuneRun, HasTheGoodTrialsGoOnAndTheirPolicyEndsTheOthers) {
  serve("asha:2:1:stop", 1);
  // One GPU, so one after the other. Each ends when the test lets it, or its policy ends it.
  write_space("[0.9, 0.8, 0.1, 0.95]",
              "echo $2 >> log; printf \"step 1\\nmetric $1\\n\" >> $ALMANAC_PROGRESS\n"
              "until [ -e go-$2 ]; do sleep 0.05; done\n"
              "printf \"step 100\\nmetric $1\\n\" >> $ALMANAC_PROGRESS\n");
  const auto command = begin_tuning();
  for (const std::string each : {"1", "2"}) {
    ASSERT_TRUE(soon([&] { return has_reported("s-" + each); })) << read("err");
    EXPECT_EQ(state(trial("s-4")), "PENDING") << "the GPU is taken";
    write("go-" + each, "");
  }
  ASSERT_TRUE(soon([&] { return state(trial("s-3")) == "CANCELLED"; })) << trial("s-3").dump();
  EXPECT_EQ(trial("s-3").at("job").at("reason"), "ended by the policy");
  ASSERT_TRUE(soon([&] { return has_reported("s-4"); })) << "the GPU was given on";
  write("go-4", "");
  EXPECT_EQ(wait(*command), 0) << read("err");
  EXPECT_EQ(read("log"), "1\n2\n3\n4\n");
  const std::vector<json> all = trials();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].at("job").at("name"), "s-4");
  EXPECT_EQ(all[0].at("best"), 0.95);
  EXPECT_EQ(all[0].at("reports").size(), 2U);
  EXPECT_EQ(all[3].at("job").at("name"), "s-3");
  EXPECT_EQ(all[3].at("reports").size(), 1U);
  EXPECT_NE(read("out").find("The best is s-4: 0.95 at step 1, with x=0.95"), std::string::npos)
      << read("out");
}

TEST_F(TuneRun, SubmitsEachTrialOnceThoughCommandAndServiceAreKilled) {
  serve("fifo", 8);
  std::string x = "[";
  constexpr int kTrials = 40;
  for (int each = 1; each <= kTrials; ++each)
    x += (each > 1 ? ", 0." : "0.") + std::to_string(100 + each);
  write_space(x + "]",
              "echo $2 >> log\n"
              "printf \"step 1\\nmetric $1\\n\" >> $ALMANAC_PROGRESS\n"
              "until [ -e go ]; do sleep 0.05; done\n");
  // The command is killed while it submits, again and again.
  for (const std::size_t enough : {1U, 10U, 20U}) {
    const auto command = begin_tuning();
    ASSERT_TRUE(soon([&] { return trials().size() >= enough; })) << read("err");
    kill(*command);
  }
  const auto command = begin_tuning();
  // It must have begun: where no service answers at first, it ends.
  ASSERT_TRUE(soon([&] { return read("err").find("40 trials") != std::string::npos; }))
      << read("err");
  kill(*serves_.back());
  write("go", "");
  std::this_thread::sleep_for(500ms);  // some end while nobody is there to see it
  serve("fifo", 8);
  EXPECT_EQ(wait(*command), 0) << read("err");
  std::istringstream lines(read("log"));
  std::multiset<int> ran{std::istream_iterator<int>(lines), {}};
  std::set<std::string> names;
  const std::vector<json> all = trials();
  ASSERT_EQ(all.size(), std::size_t{kTrials});
  for (const json& each : all) {
    names.insert(each.at("job").at("name"));
    EXPECT_EQ(state(each), "COMPLETED") << each.dump();
    EXPECT_TRUE(each.contains("best")) << each.dump();
  }
  EXPECT_EQ(names.size(), std::size_t{kTrials});
  EXPECT_EQ(ran.size(), std::size_t{kTrials});
  EXPECT_EQ(std::set<int>(ran.begin(), ran.end()).size(), std::size_t{kTrials});
  EXPECT_EQ(all[0].at("job").at("name"), "s-40");
  EXPECT_EQ(all[0].at("best"), 0.14);
}

TEST_F(TuneRun, ASearchThatLearnsContinuesAndEndsWhenItIsCancelled) {
  serve("fifo", 2);
  const auto write_search = [&](const std::string& script) {
    write("trial.sh", script);
    write("s.toml",
          "command = [\"sh\", \"trial.sh\", \"{x}\", \"{trial}\"]\nsteps = 100\n"
          "search = \"tpe\"\ntrials = 14\nat_once = 2\n[ask]\ngpus = 1\ncpus = 0.1\n"
          "out = \"/dev/null\"\ndirectory = \"" +
              (folder_ / "") + "\"\n[space]\nx = { from = 0.1, to = 0.9 }\n");
  };
  write_search(
      "echo $2 >> log; printf \"step 1\\nmetric $1\\n\" >> $ALMANAC_PROGRESS\n"
      "until [ $2 -lt 6 -o -e go ]; do sleep 0.05; done\n");
  {
    const auto command = begin_tuning();
    ASSERT_TRUE(soon([&] { return has_reported("s-7"); })) << read("err");
    EXPECT_EQ(trials().size(), 7U) << "two run, and no third is submitted";
    kill(*command);
  }
  const auto command = begin_tuning();
  write("go", "");
  EXPECT_EQ(wait(*command), 0) << read("err");
  EXPECT_NE(read("err").find("s: 14 trials, at most 2 at once; 7 existed"), std::string::npos)
      << read("err");
  std::istringstream lines(read("log"));
  const std::multiset<int> ran{std::istream_iterator<int>(lines), {}};
  EXPECT_EQ(ran.size(), 14U);
  EXPECT_EQ(std::set<int>(ran.begin(), ran.end()).size(), 14U);

  const ProgramRun detached = run({"tune", "run", folder_ / "s.toml", "--detach"});
  EXPECT_EQ(detached.status, 2);
  EXPECT_NE(detached.err.find("cannot be detached"), std::string::npos) << detached.err;

  write_search("sleep 100\n");
  auto other = process::Job::start({.argv = {program(), "tune", "run", folder_ / "s.toml", "--name",
                                             "t", "--socket", socket()}});
  ASSERT_TRUE(other);
  ASSERT_TRUE(soon([&] { return jobs_that_run().size() == 2; }));
  EXPECT_EQ(run({"tune", "cancel", "t"}).status, 0);
  EXPECT_EQ(wait(*other), 1) << "no trial has reported";
  EXPECT_TRUE(jobs_that_run().empty());
}

TEST_F(TuneRun, SaysWhatIsWrongInOneLine) {
  serve("fifo", 1);
  write("s.toml", "command = [\"true\"]\nsteps = 1\ntrials = 2\n[space]\nx = { from = 1 }\n");
  const ProgramRun bad = run({"tune", "run", folder_ / "s.toml"});
  EXPECT_EQ(bad.status, 65);
  EXPECT_NE(bad.err.find("s.toml:5:5: x has no to"), std::string::npos) << bad.err;
  write_space("[1, 2]", "true\n");
  const ProgramRun none = run({"tune", "run", folder_ / "s.toml"});
  EXPECT_EQ(none.status, 1) << none.err;
  EXPECT_NE(none.err.find("fifo does not compare trials"), std::string::npos) << none.err;
  EXPECT_NE(none.out.find("no trial of s has reported a metric"), std::string::npos) << none.out;
  const ProgramRun again = run({"tune", "run", folder_ / "s.toml"});
  EXPECT_NE(again.err.find("2 trials, of which 2 existed"), std::string::npos) << again.err;
  write_space("[1, 3]", "true\n");
  const ProgramRun other = run({"tune", "run", folder_ / "s.toml"});
  EXPECT_EQ(other.status, 69);
  EXPECT_NE(other.err.find("has other parameters: x=2"), std::string::npos) << other.err;
  EXPECT_EQ(trials().size(), 2U);
  EXPECT_EQ(run({"tune", "show", "none"}).status, 66);
}

TEST_F(TuneRun, StillHasTheNamesOfFormerVersions) {
  write_space("[1, 2]", "true\n");
  const ProgramRun now = run({"tune", "run", folder_ / "s.toml", "--dry-run"});
  const ProgramRun before = run({"sweep", "run", folder_ / "s.toml", "--dry-run"});
  EXPECT_EQ(now.status, 0) << now.err;
  EXPECT_EQ(before.status, 0) << before.err;
  EXPECT_EQ(before.out, now.out);
}

}  // namespace
}  // namespace almanac
