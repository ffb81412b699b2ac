// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac join: makes this machine a box of a head (almanac serve --boxes), until SIGTERM or
/// Ctrl-C. Running jobs continue, and the next almanac join adopts them.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "boxes/box.h"
#include "cli/program.h"
#include "cli/simulated_gpus.h"
#include "cli/value_check.h"
#include "machine/box.h"
#include "machine/power.h"
#include "process/cgroup.h"
#include "serve/client.h"
#include "service/log.h"
#include "service/notify.h"

namespace almanac::cli {
namespace {

struct JoinOptions {
  std::string head;
  std::string key;
  std::string ca;
  std::string name;
  std::string state = serve::default_state() + "-box";
  std::string cluster;
  int gpus = -1;
};

std::atomic<bool> box_stops = false;
boxes::Box* running_box = nullptr;  // of the signal handler

void stop_box(int) {
  box_stops = true;
  running_box->wake();
}

/// The name of this machine up to its first dot.
std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.substr(0, name.find_first_of(std::string(".\0", 2)));
}

/// The first line of the file, which others must not be able to read.
Result<std::string> read_key(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & 077) != 0) {
    return fail(Code::invalid, "other users may read the key", {.file = path}, "chmod 600 it");
  }
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line.empty()) {
    return fail(Code::not_found, "cannot read a key", {.file = path},
                "write the token of `almanac token create --scope agent --name NAME` there");
  }
  return line;
}

/// Asks the head with the key as it is in the file now, and after trouble with the certificate
/// authorities as they are, so that new ones need no restart.
boxes::Box::Ask ask_by_http(const JoinOptions& options) {
  struct Line {
    std::string key;
    std::optional<serve::Client> client;
  };
  return
      [options, line = std::make_shared<Line>()](const std::string& path, const std::string& body) {
        const auto answer = [&]() -> Result<std::string> {
          const auto key = read_key(options.key);
          if (!key) return tl::unexpected(key.error());
          if (!line->client || line->key != *key) {
            auto client = serve::Client::to({.url = options.head, .token = *key, .ca = options.ca});
            if (!client) return tl::unexpected(client.error());
            line->key = *key;
            line->client.emplace(*std::move(client));
          }
          auto said = line->client->post(path, body);
          if (!said) {
            line->client.reset();
            return tl::unexpected(said.error());
          }
          return std::move(said->body);
        };
        return answer();
      };
}

Result<int> run(const JoinOptions& options) {
  const auto key = read_key(options.key);
  if (!key) return tl::unexpected(key.error());
  if (auto url = serve::Client::to({.url = options.head, .token = *key, .ca = options.ca}); !url) {
    return tl::unexpected(url.error());
  }
  auto machine = machine::find_machine(options.cluster);
  if (!machine) return tl::unexpected(machine.error());
  if (options.gpus >= 0) {
    if (auto set = set_gpus(*machine, options.gpus); !set) return tl::unexpected(set.error());
  }
  machine::limit_gpus(*machine);
  for (const std::string& each : machine->notes) service::log_info(each);
  service::log_info(fmt::format("resource limits are enforced by: {}", machine->limits_by));
  if (machine->cluster.gpus() == 0) {
    service::log_warning("this box joins without GPUs, so only CPU jobs can run here");
  }
  const std::string name = options.name.empty() ? host_name() : options.name;
  const auto box = boxes::Box::open({.state = options.state,
                                     .name = name,
                                     .hardware = machine::describe_box(*machine),
                                     .ask = ask_by_http(options),
                                     .wall = wall_clock},
                                    [](const std::string& line) { service::log_info(line); });
  if (!box) return tl::unexpected(box.error());
  process::Cgroup::sweep(process::cgroup_tree(), "almanac-");
  running_box = box->get();
  std::signal(SIGINT, stop_box);
  std::signal(SIGTERM, stop_box);
  service::tell_ready(fmt::format("box {}, head at {}", name, options.head));
  service::Watchdog watchdog;
  (*box)->run(box_stops, [&] { watchdog.alive(); });
  service::tell_stopping();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  return kDone;
}

}  // namespace

void register_join(Program& program) {
  CLI::App& command =
      program.command(Purpose::run, "join", "Run jobs of another machine's service on this one");
  const auto options = std::make_shared<JoinOptions>();
  command.add_option("HEAD", options->head, "URL of the head: almanac serve --boxes --listen ...")
      ->type_name("https://HOST:PORT")
      ->required();
  command
      .add_option("--key", options->key,
                  "File with the key: a token with scope agent and the name of this box")
      ->type_name("FILE")
      ->required();
  command.add_option("--ca", options->ca, "Certificate authorities of the head, PEM")
      ->type_name("FILE");
  command.add_option("--name", options->name, "Name of this box (default: the host name)")
      ->type_name("NAME");
  command.add_option("--state", options->state, "State directory")
      ->type_name("DIR")
      ->capture_default_str();
  CLI::Option* const cluster =
      command
          .add_option("--cluster", options->cluster,
                      "Cluster file of this machine (default: what is found)")
          ->type_name("FILE");
  command
      .add_option("--gpus", options->gpus,
                  "Number of GPUs to offer; without a driver, of simulated GPUs")
      ->check(whole_number(0, cluster::kMaxGpusPerNode))
      ->excludes(cluster);
  add_example(command, "almanac join https://head:8443 --key /etc/almanac/key");
  add_example(command, "almanac join https://head:8443 --key key --ca head.pem --name box2");
  program.on(command, [options] { return run(*options); });
}

}  // namespace almanac::cli
