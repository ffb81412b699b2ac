// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac agent: on each node of a Slurm cluster, reports the use of jobs and limits them to the
/// cores that the service orders. On SIGTERM or Ctrl-C it ends and removes its limits.
#include "agent/agent.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/program.h"
#include "cli/slurm_engine.h"
#include "cli/value_check.h"
#include "service/lock.h"
#include "service/log.h"
#include "service/notify.h"

namespace almanac::cli {
namespace {

namespace fs = std::filesystem;

struct AgentOptions {
  std::string daemon;
  std::string secret = SlurmEngine::kAgentSecret;
  std::string node;
  std::string state = "/run/almanac-agent";
  std::string progress = "/var/lib/almanac-agent/progress";
  bool undo = false;
};

std::atomic<bool> agent_stops = false;
agent::Agent* running_agent = nullptr;  // of the signal handler

void stop_agent(int) {
  agent_stops = true;
  running_agent->wake();
}

/// Returns the node's name as slurmd has it, otherwise the machine's name up to its first dot,
/// which is Slurm's default.
std::string default_node() {
  if (const char* const name = std::getenv("SLURMD_NODENAME"); name != nullptr) return name;
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const std::string whole = name;
  return whole.substr(0, whole.find('.'));
}

/// A folder that is there or is made, with that mode.
Result<void> keep_folder(const std::string& path, mode_t mode) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return {};
  fs::create_directories(path, failed);
  if (failed) return fail(Code::unavailable, failed.message(), {.file = path});
  if (::chmod(path.c_str(), mode) != 0) {
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  return {};
}

Result<int> run(const AgentOptions& options) {
  constexpr mode_t kOwners = 0700;
  constexpr mode_t kEverybodys = 01777;
  if (auto made = keep_folder(options.state, kOwners); !made) return tl::unexpected(made.error());
  const auto lock = service::Lock::take(service::lock_of_folder(options.state), "this folder");
  if (!lock) return tl::unexpected(lock.error());
  const std::string memory = options.state + "/held.json";
  if (options.undo) {
    const auto limits = agent::Limits::open(memory);
    if (!limits) return tl::unexpected(limits.error());
    return kDone;
  }
  if (options.daemon.empty()) {
    return fail(Code::usage, "--daemon is missing: it gives the address of the service", {},
                "the service listens there with almanac serve --engine slurm --agents HOST:PORT");
  }
  auto secret = agent::Secret::read(options.secret);
  if (!secret) return tl::unexpected(secret.error());
  if (auto made = keep_folder(options.progress, kEverybodys); !made) {
    return tl::unexpected(made.error());
  }
  agent::Agent::Config config{.daemon = options.daemon,
                              .node = options.node.empty() ? default_node() : options.node,
                              .secret = std::move(*secret),
                              .memory = memory,
                              .mounts = agent::find_mounts(),
                              .places = {.progress = options.progress}};
  const std::string node = config.node;
  auto made = agent::Agent::open(std::move(config),
                                 [](const std::string& line) { service::log_info(line); });
  if (!made) return tl::unexpected(made.error());
  running_agent = made->get();
  std::signal(SIGINT, stop_agent);
  std::signal(SIGTERM, stop_agent);
  service::tell_ready(fmt::format("node {}, service at {}", node, options.daemon));
  service::Watchdog watchdog;
  running_agent->run(agent_stops, [&] { watchdog.alive(); });
  service::tell_stopping();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  return kDone;
}

}  // namespace

void register_agent(Program& program) {
  CLI::App& command = program.command(Purpose::run, "agent",
                                      "Report Slurm jobs of this node to the service; limit cores");
  const auto options = std::make_shared<AgentOptions>();
  command
      .add_option("--daemon", options->daemon,
                  "Address on which the service listens for agents (its --agents)")
      ->type_name("HOST:PORT")
      ->check(host_and_port());
  command.add_option("--secret", options->secret, "Secret shared with the service")
      ->type_name("FILE")
      ->capture_default_str();
  command
      .add_option("--node", options->node,
                  "Name of this node in Slurm (default: SLURMD_NODENAME or the host name)")
      ->type_name("NAME");
  command.add_option("--state", options->state, "Directory for the list of changes to undo")
      ->type_name("DIR")
      ->capture_default_str();
  command
      .add_option("--progress", options->progress,
                  "Directory in which job N may write \"gpu_use 0.83\" into a file N")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_flag("--undo", options->undo,
                   "Only undo the changes of an agent that was killed, and exit");
  add_example(command, "almanac agent --daemon head:8318");
  add_example(command,
              "almanac agent --daemon head:8318 --node gpu017 --secret /etc/almanac/agent.secret");
  add_example(command, "almanac agent --undo");
  program.on(command, [options] { return run(*options); });
}

}  // namespace almanac::cli
