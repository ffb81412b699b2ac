// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac agent on a node of a real Slurm: it finds the job in Slurm's control groups, tells what
/// it uses, holds it to a core and lets it go, whether the daemon or the agent falls silent.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "slurm/test_cluster.h"
#include "steer/agents.h"
#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

using steer::Agents;

/// almanac agent of the node n001, as a process.
class AgentProcess {
 public:
  AgentProcess(int port, const TemporaryFolder& folder) {
    const char* const told = std::getenv("ALMANAC_PROGRAM");
    const std::string line = fmt::format(
        "exec {0} agent --daemon 127.0.0.1:{1} --node n001 --secret {2}/secret --state {2}/agent "
        "--progress {2}/progress >> {2}/agent.log 2>&1",
        told != nullptr ? told : "almanac", port, folder / ".");
    std::string words[] = {"/bin/sh", "-c", line};
    char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    ::posix_spawn(&process_, "/bin/sh", nullptr, nullptr, argv, environ);
  }
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  ~AgentProcess() { end(SIGTERM); }

  void end(int signal) {
    if (process_ <= 0) return;
    ::kill(process_, signal);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
};

/// What a manager that starts services hears of one of Type=notify.
class Manager {
 public:
  explicit Manager(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  bool hears(const std::string& word) {
    return eventually([&] {
      std::string text(4096, '\0');
      const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), 0);
      if (size > 0) heard_ += text.substr(0, static_cast<std::size_t>(size)) + '\n';
      return heard_.find(word) != std::string::npos;
    });
  }

 private:
  process::Descriptor socket_;
  std::string heard_;
};

/// The line by which the unit starts its program, for a shell.
std::string start_of_unit(const std::string& program) {
  std::ifstream unit(std::string(std::getenv("ALMANAC_SOURCE_DIR")) +
                     "/packaging/systemd/almanac-agent.service");
  const std::string begin = "ExecStart=almanac ";
  for (std::string line; std::getline(unit, line);) {
    if (line.starts_with(begin)) return program + " " + line.substr(begin.size());
  }
  return "false";
}

class AgentSlurmTest : public testing::Test {
 protected:
  void begin() {
    cluster_.emplace(TestPlan{.nodes = 1, .cgroups = true});
    folder_.write("secret", keys_.of("n001").bytes() + '\n');
    ASSERT_EQ(::chmod((folder_ / "secret").c_str(), 0600), 0);
    listen("127.0.0.1:0");
    agent_.emplace(agents_->port(), folder_);
    // Two processes that would have a processor each, and one that says how busy its GPUs are.
    job_ = cluster_->submit(
        fmt::format("-n 1 -c 2 --gres=gpu:1 --wrap 'while :; do :; done & while :; do :; done & "
                    "while sleep 1; do echo gpu_use 0.75 >> {}/$SLURM_JOB_ID; done'",
                    folder_ / "progress"));
    ASSERT_TRUE(reports([](const auto& job) { return job.cpus == 2 && job.cores.has_value(); }));
  }
  void listen(const std::string& address) {
    auto opened = Agents::listen(address, keys_, 5s);
    ASSERT_TRUE(opened) << to_string(opened.error());
    agents_ = std::move(*opened);
  }

  /// Whether a report comes that says so of the job.
  bool reports(const std::function<bool(const agent::JobReport&)>& condition) {
    return eventually([&] {
      agents_->order(orders_);
      for (const Agents::Told& each : agents_->take_reports()) {
        for (const agent::JobReport& job : each.report.jobs) {
          if (job.job == manager::JobNumber{job_} && condition(job)) return true;
        }
      }
      return false;
    });
  }
  /// What the kernel lets the job have: in v2 time, in v1 processors.
  std::string has() const {
    return cluster_->must(fmt::format(
        "cd /sys/fs/cgroup; cat system.slice/n001_slurmstepd.scope/job_{0}/cpu.max 2>/dev/null || "
        "cat cpuset/slurm_n001/uid_0/job_{0}/step_batch/cpuset.cpus",
        job_));
  }
  static bool is_a_core(const std::string& has) {
    return has == "100000 100000" || has.find_first_of(",- ") == std::string::npos;
  }

  agent::Keys keys_{agent::Secret("the secret of agents and service")};
  TemporaryFolder folder_;
  std::optional<TestCluster> cluster_;
  std::unique_ptr<Agents> agents_;
  std::optional<AgentProcess> agent_;
  Agents::Orders orders_;
  std::uint32_t job_ = 0;
};

TEST_F(AgentSlurmTest, HoldsAJobAndLetsItGo) {
  SKIP_WITHOUT_SLURM(.nodes = 1, .cgroups = true);
  begin();
  const std::string all = has();
  EXPECT_TRUE(reports([](const auto& job) { return job.gpu_use == 0.75; }));
  orders_ = {{"n001", {{manager::JobNumber{job_}, 1}}}};
  EXPECT_TRUE(reports([](const auto& job) { return job.limit == 1; }));
  EXPECT_TRUE(is_a_core(has())) << has();
  // Of a report that began after the change.
  EXPECT_TRUE(reports([](const auto& job) { return job.cores && *job.cores <= 1.05; }));
  orders_.clear();
  EXPECT_TRUE(reports([](const auto& job) { return !job.limit; }));
  EXPECT_EQ(has(), all);
}

TEST_F(AgentSlurmTest, LetsGoWhicheverIsKilled) {
  SKIP_WITHOUT_SLURM(.nodes = 1, .cgroups = true);
  begin();
  const std::string all = has();
  orders_ = {{"n001", {{manager::JobNumber{job_}, 1}}}};
  EXPECT_TRUE(reports([](const auto& job) { return job.limit == 1; }));
  ASSERT_NE(has(), all);
  const int port = agents_->port();
  agents_.reset();  // the service
  EXPECT_TRUE(eventually([&] { return has() == all; }));

  listen(fmt::format("127.0.0.1:{}", port));
  EXPECT_TRUE(reports([](const auto& job) { return job.limit == 1; }));
  agent_->end(SIGKILL);
  ASSERT_NE(has(), all);
  const char* const program = std::getenv("ALMANAC_PROGRAM");
  cluster_->must(fmt::format("{} agent --undo --state {}/agent",
                             program != nullptr ? program : "almanac", folder_ / "."));
  EXPECT_EQ(has(), all);
}

TEST_F(AgentSlurmTest, IsStartedAndWatchedAsItsUnitSays) {
  SKIP_WITHOUT_SLURM(.nodes = 1, .cgroups = true);
  begin();
  agent_.reset();
  Manager manager(folder_ / "notify");
  const char* const program = std::getenv("ALMANAC_PROGRAM");
  const pid_t unit = ::fork();
  if (unit == 0) {
    ::setenv("RUNTIME_DIRECTORY", (folder_ / "agent").c_str(), 1);
    ::setenv("STATE_DIRECTORY", (folder_ / ".").c_str(), 1);
    ::setenv("NOTIFY_SOCKET", (folder_ / "notify").c_str(), 1);
    ::setenv("WATCHDOG_USEC", "60000000", 1);
    const std::string options = fmt::format("--daemon 127.0.0.1:{} --node n001 --secret {}",
                                            agents_->port(), folder_ / "secret");
    ::setenv("ALMANAC_AGENT_OPTIONS", options.c_str(), 1);
    const std::string line = "exec setpriv --no-new-privs " +
                             start_of_unit(program != nullptr ? program : "almanac") +
                             " >/dev/null 2>&1";
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  EXPECT_TRUE(manager.hears("READY=1"));
  EXPECT_TRUE(manager.hears("WATCHDOG=1"));
  const std::string all = has();
  EXPECT_TRUE(reports([](const auto& job) { return job.gpu_use == 0.75; }));
  orders_ = {{"n001", {{manager::JobNumber{job_}, 1}}}};
  EXPECT_TRUE(reports([](const auto& job) { return job.limit == 1; }));
  EXPECT_NE(has(), all);
  ::kill(unit, SIGTERM);
  EXPECT_TRUE(manager.hears("STOPPING=1"));
  int status = 0;
  ::waitpid(unit, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(has(), all) << "an agent that is stopped lets go";
}

}  // namespace
}  // namespace almanac::slurm
