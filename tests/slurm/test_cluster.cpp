// SPDX-License-Identifier: Apache-2.0
#include "slurm/test_cluster.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include "process/job.h"

namespace almanac::slurm {
namespace {

using process::Descriptor;

std::string script() {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  if (source == nullptr) throw std::runtime_error("ALMANAC_SOURCE_DIR is not set");
  return std::string(source) + "/tests/slurm/cluster";
}

/// The plan goes into the environment of this process, which starts the script.
void say(const TestPlan& plan) {
  ::setenv("CLUSTER", TestCluster::name().c_str(), 1);
  ::setenv("NODES", std::to_string(plan.nodes).c_str(), 1);
  ::setenv("POWER", plan.power ? "1" : "", 1);
  ::setenv("SWITCHES", plan.switches ? "1" : "", 1);
  ::setenv("BOOT_S", std::to_string(plan.boot_s).c_str(), 1);
  ::setenv("CGROUPS", plan.cgroups ? "1" : "", 1);
  ::setenv("SHARDS", plan.shards > 0 ? std::to_string(plan.shards).c_str() : "", 1);
  ::setenv("GRES", plan.gres.c_str(), 1);
  ::setenv("ACCOUNTING", plan.accounting ? "1" : "", 1);
  ::setenv("MORE", plan.more.c_str(), 1);
}

std::string trimmed(std::string text) {
  const std::size_t end = text.find_last_not_of(" \n");
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

Said run_shell(const std::string& command) {
  std::FILE* const pipe = ::popen(("( " + command + "\n) 2>&1 </dev/null").c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("no process for: " + command);
  Said said;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    said.out.append(part.data(), size);
  }
  const process::Ending ending = process::ending_from(::pclose(pipe));
  said.status = ending.signal != 0 ? 128 + ending.signal : ending.status;
  said.out = trimmed(said.out);
  return said;
}

void enter_network(const Descriptor& network) {
  if (::setns(network.get(), CLONE_NEWNET) != 0) throw std::runtime_error("cannot change network");
}

Descriptor network_of(const std::string& process) {
  return Descriptor(::open(("/proc/" + process + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

bool eventually(const std::function<bool()>& condition, int at_most_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(at_most_s);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::string TestCluster::name() { return "test" + std::to_string(::getpid()); }

std::optional<std::string> TestCluster::missing(const TestPlan& plan) {
  say(plan);
  const std::string what = run_shell(script() + " missing").out;
  return what.empty() ? std::nullopt : std::optional(what);
}

TestCluster::TestCluster(const TestPlan& plan)
    : folder_((std::filesystem::temp_directory_path() / "almanac-slurm-XXXXXX").string()) {
  if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  std::array<int, 2> life{};
  std::array<int, 2> word{};
  if (::pipe2(life.data(), O_CLOEXEC) != 0 || ::pipe2(word.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  const Descriptor life_end(life[0]);
  lifeline_ = Descriptor(life[1]);
  const Descriptor said(word[0]);
  Descriptor saying(word[1]);
  say(plan);
  const std::string program = script();
  cluster_ = ::fork();
  if (cluster_ == 0) {
    // A signal that kills the test with its whole group leaves this process to clean up.
    ::setsid();
    ::dup2(life_end.get(), STDIN_FILENO);
    ::dup2(saying.get(), STDOUT_FILENO);
    ::dup2(saying.get(), STDERR_FILENO);
    ::execl(program.c_str(), "cluster", "run", folder_.c_str(), nullptr);
    ::_exit(127);
  }
  saying.close();
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = ::read(said.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
    const std::size_t ready = text.find("ready ");
    if (ready == std::string::npos || text.find('\n', ready) == std::string::npos) continue;
    inside_ = std::stoi(text.substr(ready + 6));
    break;
  }
  if (inside_ < 0) {
    ::waitpid(cluster_, nullptr, 0);
    throw std::runtime_error("the cluster did not come up: " + text);
  }
  our_network_ = network_of("thread-self");
  enter_network(network_of(std::to_string(inside_)));
  ::setenv("SLURM_CONF", (folder_ + "/etc/slurm.conf").c_str(), 1);
}

TestCluster::~TestCluster() {
  ::unsetenv("SLURM_CONF");
  enter_network(our_network_);
  lifeline_.close();
  ::waitpid(cluster_, nullptr, 0);
}

Said TestCluster::run(const std::string& command) const { return run_shell(command); }

std::string TestCluster::must(const std::string& command) const {
  Said said = run(command);
  EXPECT_EQ(said.status, 0) << command << ": " << said.out;
  return std::move(said.out);
}

Said TestCluster::within(const std::string& command) const {
  std::string quoted;
  for (const char c : command) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return run_shell("PATH=$PATH:/usr/sbin " + script() + " within " + std::to_string(inside_) +
                   " sh -c '" + quoted + "'");
}

std::uint32_t TestCluster::submit(const std::string& arguments) const {
  const std::string number = must("sbatch --parsable -o /dev/null " + arguments);
  return static_cast<std::uint32_t>(std::strtoul(number.c_str(), nullptr, 10));
}

std::string TestCluster::of_job(std::uint32_t job, const std::string& field) const {
  const Said said = run("squeue -h -t all -j " + std::to_string(job) + " -O " + field + ":200");
  return said.status == 0 ? said.out : "";
}

bool TestCluster::becomes(std::uint32_t job, const std::string& state) const {
  return eventually([&] { return of_job(job, "state") == state; });
}

std::string TestCluster::state_of(const std::string& node) const {
  return must("sinfo -h -p all -o %t -n " + node);
}

void TestCluster::end_controller(const std::string& signal) const {
  const Said said = within("p=$(cat " + folder_ + "/run/slurmctld.pid) && kill -" + signal +
                           " $p && while kill -0 $p 2>/dev/null; do sleep 0.02; done");
  EXPECT_EQ(said.status, 0) << said.out;
}

void TestCluster::start_controller() const {
  const Said said = within("slurmctld </dev/null >>" + folder_ + "/log/boot.log 2>&1");
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_TRUE(
      eventually([&] { return run("scontrol ping").out.find("is UP") != std::string::npos; }));
}

}  // namespace almanac::slurm
