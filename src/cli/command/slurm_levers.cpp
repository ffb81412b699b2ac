// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac slurm status, levers and undo: shows and sets what a service changes on a Slurm cluster.
/// They communicate with it through files in its state folder (steer/control.h).
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "agent/keys.h"
#include "base/wall_clock.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/slurm_engine.h"
#include "cli/value_check.h"
#include "serve/client.h"
#include "service/lock.h"
#include "slurm/connect.h"
#include "steer/control.h"
#include "steer/undo.h"
#include "text/human.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

struct SlurmLeversOptions {
  ListOptions list;
  std::string state = serve::default_state();
  std::string way;
  std::string lever;
  std::string how;
  std::string key;
  std::string revoked;
  std::string secret = SlurmEngine::kAgentSecret;
};

/// Age from which a status is old. The service writes it every few seconds, unless the controller
/// or the disk delays it.
constexpr Duration kOld = 30s;

figure::Listing rows_of(const std::vector<service::LeverView>& levers) {
  using service::LeverView;
  figure::Rows rows(levers);
  rows.add("name", "LEVER", &LeverView::name);
  rows.add(figure::Tier::key, "mode", "MODE",
           [](const LeverView& each) { return to_string(each.how); });
  rows.add("changes_due", "DUE", &LeverView::wanted);
  rows.add("changes_made", "DONE", &LeverView::done);
  rows.add("changes_failed", "FAILED", &LeverView::failed);
  rows.add("changes_refused", "REFUSED", &LeverView::refused);
  rows.add("paused_reason", "PAUSED BECAUSE", &LeverView::rests);
  return rows;
}

std::string summary_of(const steer::Status& status) {
  std::string made;
  made += fmt::format("Slurm cluster {} ({}) by {}, policy {}\n", status.manager.cluster,
                      status.manager.version, status.manager.way, status.policy);
  made += fmt::format("{} pending, of which {} outside the policy; {} running\n", status.waiting,
                      status.manager.excluded, status.running);
  made += fmt::format("last answer in {}, last decision in {}; at most {:.0f} changes per second\n",
                      text::human_time(status.manager.news_s),
                      text::human_time(status.manager.round_s), status.manager.changes_per_s);
  if (!status.canary.empty()) made += fmt::format("{}\n", status.canary);
  for (const std::string& each : status.warnings) made += fmt::format("warning: {}\n", each);
  return made;
}

/// The next actions of each lever.
std::string next_in_words(const steer::Status& status) {
  std::string made;
  for (const service::LeverView& each : status.manager.levers) {
    for (const std::string& next : each.next) made += fmt::format("  {}: {}\n", each.name, next);
  }
  return made;
}

Result<int> show_status(const SlurmLeversOptions& options) {
  const auto status = steer::read_status(options.state);
  if (!status) return tl::unexpected(status.error());
  if (options.list.explains()) fmt::print("{}\n", summary_of(*status));
  const auto printed = options.list.print(rows_of(status->manager.levers), next_in_words(*status));
  if (!printed) return printed;
  const Duration age = wall_clock() - status->at;
  const std::string old = fmt::format("this status is {} old", text::human_time(seconds(age)));
  const auto is_held = service::Lock::is_held(service::lock_of_folder(options.state));
  if (!is_held.has_value()) {
    if (age > kOld)
      note(fmt::format("{}; only the service's user can see whether process {} is running", old,
                       status->process));
    return kDone;
  }
  if (*is_held) {
    if (age > kOld) note(fmt::format("{}: process {} is waiting", old, status->process));
    return kDone;
  }
  note(fmt::format("process {} is not running; {}", status->process, old));
  return kUnavailable;
}

Result<int> show_agents(const SlurmLeversOptions& options) {
  if (!options.revoked.empty()) {
    if (auto done = agent::Keys::revoke(options.secret, options.revoked); !done) {
      return tl::unexpected(done.error());
    }
    note(fmt::format("the agent of {} is rejected until it gets a new key", options.revoked));
    return kDone;
  }
  if (!options.key.empty()) {
    const auto keys = agent::Keys::read(options.secret);
    if (!keys) return tl::unexpected(keys.error());
    fmt::print("{}\n", keys->of(options.key).bytes());
    return kDone;
  }
  const auto status = steer::read_status(options.state);
  if (!status) return tl::unexpected(status.error());
  if (status->manager.agents.empty()) {
    note("no agent reports (almanac serve --agents HOST:PORT listens for them)");
    return kDone;
  }
  using service::AgentView;
  figure::Rows rows(status->manager.agents);
  rows.add("node", "NODE", &AgentView::node);
  rows.add("jobs", "JOBS", &AgentView::jobs);
  rows.add("jobs_confined", "CONFINED", &AgentView::held);
  const auto add = [&](const char* name, const char* label, auto get, const char* format,
                       double scale) {
    rows.add(name, label, [=](const AgentView& each) {
      const std::optional<double> value = std::invoke(get, each);
      return value ? figure::Cell(*value, fmt::format(fmt::runtime(format), scale * *value))
                   : figure::Cell();
    });
  };
  add("load", "LOAD", &AgentView::load, "{:.1f}", 1);
  add("cpu_pressure", "CPU PRESSURE", &AgentView::cpu_pressure, "{:.0f} %", 100);
  add("memory_pressure", "MEMORY PRESSURE", &AgentView::memory_pressure, "{:.0f} %", 100);
  add("io_pressure", "IO PRESSURE", &AgentView::io_pressure, "{:.0f} %", 100);
  add("bandwidth_gbs", "GB/S", &AgentView::bandwidth_gbs, "{:.1f}", 1);
  return options.list.print(std::move(rows));
}

Result<int> set_lever(const SlurmLeversOptions& options) {
  const auto how = steer::parse_switch(options.how);
  if (!how) return tl::unexpected(how.error());
  const auto status = steer::read_status(options.state);
  if (!status) return tl::unexpected(status.error());
  std::vector<std::string> names;
  for (const service::LeverView& each : status->manager.levers) names.push_back(each.name);
  if (std::find(names.begin(), names.end(), options.lever) == names.end()) {
    return fail(Code::usage, fmt::format("unknown lever {}", options.lever), {},
                text::meant_or_known(options.lever, names));
  }
  const auto written = steer::change_switches(
      options.state, [&](steer::Switches& all) { all[options.lever] = *how; });
  if (!written) return tl::unexpected(written.error());
  return kDone;
}

/// Prints what could not be restored and returns 1, so that a script knows that Slurm differs from
/// before.
int say_what_is_left(const std::vector<std::string>& left) {
  if (left.empty()) return kDone;
  for (const std::string& each : left) note(each);
  note("the service ended; almanac slurm undo --way commands (or gateway) may undo its changes");
  return kCheckFailed;
}

Result<int> undo(const SlurmLeversOptions& options) {
  const auto done =
      steer::undo_without_service(options.state, [&] { return slurm::connect(options.way); });
  if (done) {
    fmt::print("{} undone\n", done->changes);
    return say_what_is_left(done->left);
  }
  if (done.error().code != Code::conflict) return tl::unexpected(done.error());
  // A service has the folder: it does it.
  if (auto asked = steer::ask_for_undo(options.state); !asked) {
    return tl::unexpected(asked.error());
  }
  constexpr int kPatience_s = 120;
  constexpr int kGlances_a_second = 10;
  for (int glance = 0; glance < kPatience_s * kGlances_a_second; ++glance) {
    if (!steer::undo_is_asked(options.state)) {
      const auto status = steer::read_status(options.state);
      if (!status) return tl::unexpected(status.error());
      fmt::print("changes undone{}; all levers are off\n", status->left.empty() ? "" : ", except:");
      return say_what_is_left(status->left);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1000 / kGlances_a_second));
  }
  return fail(Code::unavailable, fmt::format("not done after {} s", kPatience_s), {},
              "the service continues; almanac slurm status shows the progress");
}

}  // namespace

void register_slurm_levers(Program& program) {
  CLI::App& slurm = program.noun(Purpose::run, "slurm", "Advise and steer a Slurm cluster");
  const auto options = std::make_shared<SlurmLeversOptions>();
  const auto add_state = [&](CLI::App& command) {
    command.add_option("--state", options->state, "State directory of the service")
        ->type_name("DIR")
        ->capture_default_str();
  };

  CLI::App& status =
      *slurm.add_subcommand("status", "Show what Almanac changes in Slurm, and would change");
  add_state(status);
  options->list.add_to(status);
  add_example(status, "almanac slurm status --state /var/lib/almanac");
  options->list.on(program, status, [options] { return show_status(*options); });

  CLI::App& agents = *slurm.add_subcommand(
      "agents",
      "Show the resource pressure of nodes with an agent, or print and revoke their keys");
  add_state(agents);
  options->list.add_to(agents);
  agents.add_option("--key", options->key, "Print the key of a node, for its agent")
      ->type_name("NODE");
  agents.add_option("--revoke", options->revoked, "Revoke the key of a node")
      ->type_name("NODE")
      ->excludes("--key");
  agents
      .add_option("--agent-secret", options->secret,
                  "Secret of the service, from which keys are derived")
      ->type_name("FILE")
      ->capture_default_str();
  add_example(agents, "almanac slurm agents --state /var/lib/almanac");
  add_example(agents,
              "almanac slurm agents --key gpu017 | ssh gpu017 install -m 600 /dev/stdin "
              "/etc/almanac/agent.secret");
  options->list.on(program, agents, [options] { return show_agents(*options); });

  CLI::App& levers = *slurm.add_subcommand("levers", "Turn a lever off, dry or on");
  add_state(levers);
  levers.add_option("LEVER", options->lever, "Lever, from almanac slurm status")->required();
  levers.add_option("SWITCH", options->how, "off, dry (only show what would change) or on")
      ->required();
  add_example(levers, "almanac slurm levers order on --state /var/lib/almanac");
  program.on(levers, [options] { return set_lever(*options); });

  CLI::App& back =
      *slurm.add_subcommand("undo", "Undo all changes to pending jobs, and turn all levers off");
  add_state(back);
  back.add_option("--way", options->way, slurm::kWays)->type_name("WAY")->check(slurm_way());
  add_example(back, "almanac slurm undo --state /var/lib/almanac");
  program.on(back, [options] { return undo(*options); });
}

}  // namespace almanac::cli
