// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ctrl-C during a long simulation: what is left is valid, marked, and of use.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run_program.h"

namespace almanac {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// The program at work in a process of its own; killed if the test gives up on it.
class Background {
 public:
  Background(std::vector<std::string> arguments, const std::string& err) {
    const char* const program = std::getenv("ALMANAC_PROGRAM");
    arguments.insert(arguments.begin(), program == nullptr ? "almanac" : program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const int messages = ::open(err.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(null, STDIN_FILENO);
      ::dup2(null, STDOUT_FILENO);
      ::dup2(messages, STDERR_FILENO);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(null);
    ::close(messages);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (!running()) return;
    send(SIGKILL);
    wait();
  }

  bool running() {
    if (!ended_) ended_ = ::waitpid(process_, &status_, WNOHANG) != 0;
    return !ended_;
  }
  void send(int signal) const { ::kill(process_, signal); }
  /// Processor time that it has used.
  std::chrono::nanoseconds worked() const {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(process_, &clock) == 0) ::clock_gettime(clock, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
  /// The exit status; -1 when a signal ended it.
  int wait() {
    while (!ended_) ended_ = ::waitpid(process_, &status_, 0) == process_ || errno != EINTR;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

/// How many fields each line of a CSV file has (none is quoted); one number = all alike.
std::set<std::ptrdiff_t> widths(const std::string& path) {
  std::ifstream file(path);
  std::set<std::ptrdiff_t> widths;
  for (std::string line; std::getline(file, line);) {
    EXPECT_FALSE(file.eof()) << path << " does not end with a line end";
    widths.insert(std::count(line.begin(), line.end(), ',') + 1);
  }
  return widths;
}

class Interrupt : public testing::Test {
 protected:
  static constexpr int kJobs = 100'000;

  void SetUp() override {
    const ProgramRun made = run_program(
        {"trace", "generate", trace_, "--jobs", std::to_string(kJobs), "--cluster-out", cluster_});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  /// Simulates under `policies` one after the other, sends `signal` while it works on what follows
  /// once `sign` is there, and gives the exit status. Three times the load makes conservative
  /// backfill take many times the second of work that is waited for.
  int interrupt(const std::string& policies, const std::string& sign, int signal = SIGINT) {
    Background program({"simulate", trace_, "--cluster", cluster_, "--load", "3", "--policy",
                        policies, "--threads", "1", "--out", run_},
                       folder_ / "err");
    const auto wait_until = [&](const auto& fact) {
      while (program.running() && !fact()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    };
    wait_until([&] { return fs::exists(sign); });
    const auto before = program.worked();
    wait_until([&] { return program.worked() > before + std::chrono::seconds(1); });
    EXPECT_TRUE(program.running()) << "ended too soon: " << text(folder_ / "err");
    program.send(signal);
    return program.wait();
  }

  static std::string text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(run_)) {
      if (entry.is_regular_file()) files.push_back(fs::relative(entry, run_).string());
    }
    return files;
  }
  /// How many rows of a policy's jobs.csv are in `state`.
  std::size_t rows_in(const std::string& policy, const std::string& state) const {
    std::ifstream file(run_ + "/" + policy + "/jobs.csv");
    std::size_t rows = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.find("," + state + ",") != std::string::npos) ++rows;
    }
    return rows;
  }

  TemporaryFolder folder_;
  std::string trace_ = folder_ / "trace.csv";
  std::string cluster_ = folder_ / "cluster.toml";
  std::string run_ = folder_ / "run";
};

TEST_F(Interrupt, LeavesAValidRunThatSaysThatItIsIncomplete) {
  EXPECT_EQ(interrupt("fifo,conservative", run_ + "/fifo/timeline.csv"), 130);
  EXPECT_THAT(text(folder_ / "err"),
              HasSubstr("interrupted; results so far are marked as incomplete"));
  std::vector<std::string> left = files();
  std::erase(left, "report.html");  // only where the build has a page
  EXPECT_THAT(
      left, UnorderedElementsAre("run.json", "summary.json", "cluster.toml", "fifo/jobs.csv",
                                 "fifo/timeline.csv", "fifo/waits.csv.zst", "conservative/jobs.csv",
                                 "conservative/timeline.csv", "conservative/waits.csv.zst"));
  const json run = json::parse(text(run_ + "/run.json"));
  EXPECT_EQ(run["complete"], false);
  const json summary = json::parse(text(run_ + "/summary.json"));
  ASSERT_EQ(summary.size(), 2U);
  EXPECT_EQ(summary[0]["jobs"], kJobs);
  EXPECT_EQ(summary[0]["finished"], kJobs);
  EXPECT_LT(summary[1]["finished"], kJobs);
  EXPECT_EQ(summary[0]["complete"], true);
  EXPECT_EQ(summary[1]["complete"], false);
  for (const std::string policy : {"fifo", "conservative"}) {
    EXPECT_EQ(widths(run_ + "/" + policy + "/jobs.csv").size(), 1U) << policy;
    EXPECT_EQ(widths(run_ + "/" + policy + "/timeline.csv").size(), 1U) << policy;
  }
  // A row for each job that had been submitted; those that had not ended say so.
  EXPECT_LT(summary[1]["jobs"], kJobs);
  EXPECT_EQ(rows_in("conservative", "PENDING") + rows_in("conservative", "RUNNING") +
                summary[1]["finished"].get<std::size_t>(),
            summary[1]["jobs"]);
}

TEST_F(Interrupt, IsToldByTheCommandsThatReadTheRun) {
  ASSERT_EQ(interrupt("conservative", run_), 130);
  const ProgramRun compared = run_program({"compare", run_});
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.err, HasSubstr("was interrupted"));
  EXPECT_THAT(compared.out, HasSubstr("conservative (interrupted)"));

  // A small run that was cut short, so that running it again does not take long.
  const std::string small = folder_.write(
      "small.csv", "job_id,submit_s,run_s,gpus,user,vc,state\n1,0,100,8,ann,,COMPLETED\n");
  const std::string cut = folder_ / "cut";
  ASSERT_EQ(
      run_program({"simulate", small, "--cluster", "1x8", "--policy", "fifo", "--out", cut}).status,
      0);
  json record = json::parse(text(cut + "/run.json"));
  record["complete"] = false;
  json summary = json::parse(text(cut + "/summary.json"));
  summary[0]["signature"] = "0123456789abcdef";
  folder_.write("cut/run.json", record.dump());
  folder_.write("cut/summary.json", summary.dump());
  const ProgramRun again = run_program({"rerun", cut});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err,
              HasSubstr("was interrupted, so there are no complete schedules to compare with"));
}

TEST_F(Interrupt, EvenByKillLeavesAFolderThatTheNextRunMayHave) {
  ASSERT_EQ(interrupt("conservative", run_, SIGKILL), -1);
  const ProgramRun compared = run_program({"compare", run_});
  EXPECT_THAT(compared.err, HasSubstr("was interrupted"));
  const ProgramRun again =
      run_program({"simulate", trace_, "--cluster", cluster_, "--policy", "fifo", "--out", run_});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_FALSE(fs::exists(run_ + "/conservative"));
}

}  // namespace
}  // namespace almanac
