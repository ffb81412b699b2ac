// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever idle on a real Slurm, as a site has it: almanac serve, almanac agent on the node, and
/// a job that says that its GPUs do not compute.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/keys.h"
#include "process/descriptor.h"
#include "slurm/test_cluster.h"
#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

/// A command of almanac that goes on until the test ends.
class Runs {
 public:
  Runs(const std::string& command, const std::string& log) {
    const char* const told = std::getenv("ALMANAC_PROGRAM");
    const std::string line =
        fmt::format("exec {} {} >> {} 2>&1", told != nullptr ? told : "almanac", command, log);
    std::string words[] = {"/bin/sh", "-c", line};
    char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    ::posix_spawn(&process_, "/bin/sh", nullptr, nullptr, argv, environ);
  }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;
  ~Runs() {
    if (process_ <= 0) return;
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

int free_port() {
  const process::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ::ntohs(address.sin_port);
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(IdleSlurm, TellsTheUserAndRequeuesTheJobAfterTheGrace) {
  SKIP_WITHOUT_SLURM(.nodes = 1, .cgroups = true);
  const TestCluster cluster({.nodes = 1, .cgroups = true});
  const TemporaryFolder folder;
  const std::string secret = "the secret of agents and service";
  const agent::Keys keys{agent::Secret(secret)};
  folder.write("secret", secret + '\n');
  folder.write("key", keys.of("n001").bytes() + '\n');
  for (const char* const file : {"secret", "key"}) {
    ASSERT_EQ(::chmod((folder / file).c_str(), 0600), 0);
  }
  const std::string told = folder / "told";
  const std::string levers = folder.write(
      "levers.toml", fmt::format("[levers]\nidle = \"on\"\n[idle]\nmode = \"requeue\"\nafter_min = "
                                 "0.1\ngrace_min = 0.1\nhook = '''printf '%s\\n' \"$ALMANAC_TEXT\" "
                                 ">> {}'''\n",
                                 told));
  const int port = free_port();
  const Runs service(fmt::format("serve --engine slurm --policy fifo --state {} --levers {} "
                                 "--agents 127.0.0.1:{} --agent-secret {}",
                                 folder / "state", levers, port, folder / "secret"),
                     folder / "service.log");
  const Runs agent(fmt::format("agent --daemon 127.0.0.1:{} --node n001 --secret {} --state {} "
                               "--progress {}",
                               port, folder / "key", folder / "agent", folder / "progress"),
                   folder / "agent.log");
  const auto says = [&](const char* use) {
    return cluster.submit(
        fmt::format("-n 1 -c 1 --gres=gpu:1 -t 60 --requeue --wrap 'while sleep 1; do echo gpu_use "
                    "{} >> {}/$SLURM_JOB_ID; done'",
                    use, folder / "progress"));
  };
  const auto busy = says("0.75");
  const auto idle = says("0");
  EXPECT_TRUE(eventually([&] { return cluster.of_job(idle, "restartcnt") != "0"; }))
      << text_of(folder / "service.log") << text_of(folder / "agent.log");
  const std::string text = text_of(told);
  EXPECT_NE(text.find(fmt::format("Job {}: its GPUs have been idle for ", idle)), std::string::npos)
      << text;
  EXPECT_NE(text.find(" The job will be requeued in "), std::string::npos) << text;
  EXPECT_EQ(text.find(fmt::format("Job {}:", busy)), std::string::npos) << text;
  EXPECT_EQ(cluster.of_job(busy, "restartcnt"), "0");
}

}  // namespace
}  // namespace almanac::slurm
