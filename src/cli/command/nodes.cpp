// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac nodes: the GPUs of the service and which jobs hold them; drains a node or brings it
/// back; says on which nodes more jobs failed than chance explains.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/job_list.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "serve/view_json.h"
#include "study/node_failures.h"
#include "text/host_list.h"

namespace almanac::cli {
namespace {

struct NodesOptions {
  ServiceOptions service;
  std::string drain;
  std::string resume;
  bool failures = false;
  std::string since = "30d";
  std::string output;
};

std::string measured(double value, const char* unit) {
  return value < 0 ? "" : fmt::format("{:.3g}{}", value, unit);
}

void print(const std::vector<live::NodeView>& nodes) {
  std::vector<std::vector<std::string>> rows;
  for (const live::NodeView& node : nodes) {
    rows.push_back({node.name, "", node.drained ? "drained" : "up",
                    fmt::format("{:g}/{:g} cores", node.cpus_held, node.cpus),
                    fmt::format("{:g}/{:g} GB", node.memory_held_gb, node.memory_gb), "", ""});
    for (const live::GpuView& gpu : node.gpus) {
      std::vector<std::int64_t> jobs;
      for (const store::JobNumber each : gpu.jobs) jobs.push_back(static_cast<std::int64_t>(each));
      rows.push_back({node.name, std::to_string(gpu.number),
                      !gpu.in_service ? gpu.trouble
                      : jobs.empty()  ? "idle"
                                      : "busy",
                      measured(gpu.use < 0 ? -1 : 100 * gpu.use, " %"),
                      measured(gpu.memory_gb, " GB"), measured(gpu.power_w, " W"),
                      fmt::format("{}", fmt::join(jobs, ","))});
    }
  }
  print_columns({{"NODE"},
                 {"GPU", true},
                 {"STATE"},
                 {"USE", true},
                 {"MEMORY", true},
                 {"POWER", true},
                 {"JOBS"}},
                rows);
}

/// Of each node how many jobs failed on it, and what chance that has.
Result<int> failures(serve::Client& client, const NodesOptions& options) {
  const auto since = parse_since("--since", options.since, wall_clock());
  if (!since) return tl::unexpected(since.error());
  const auto ended = list_ended(client, {{"since", fmt::format("{}", seconds(*since))}});
  if (!ended) return tl::unexpected(ended.error());
  std::vector<study::NodeRun> runs;
  for (const serve::ListedJob& each : *ended) {
    const store::Job& job = each.view.job;
    const auto nodes = text::expand_hosts(each.nodes);
    // One that never ran has no nodes.
    if (!nodes || job.state == trace::JobState::cancelled) continue;
    for (const std::string& node : *nodes) {
      runs.push_back({.node = node,
                      .kind = job.asked->user + "\n" + job.asked->name,
                      .failed = job.state == trace::JobState::failed ||
                                job.state == trace::JobState::node_fail});
    }
  }
  const std::vector<study::NodeRecord> records = study::node_records(runs);
  if (options.output == "json") {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const study::NodeRecord& each : records) {
      all.push_back({{"node", each.node},
                     {"kinds", each.kinds},
                     {"failed", each.failed},
                     {"expected", each.expected},
                     {"p_value", each.p_value},
                     {"suspicious", each.is_suspicious()}});
    }
    fmt::print("{}\n", all.dump(2));
    return kDone;
  }
  if (records.empty()) {
    fmt::print("No node has run five kinds of jobs since {}: too few to say anything.\n",
               options.since);
    return kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const study::NodeRecord& each : records) {
    rows.push_back({each.node, std::to_string(each.kinds), std::to_string(each.failed),
                    fmt::format("{:.1f}", each.expected), fmt::format("{:.2g}", each.p_value),
                    each.is_suspicious() ? "drain and test it" : ""});
  }
  print_columns({{"node"},
                 {"kinds of jobs", true},
                 {"failed", true},
                 {"expected", true},
                 {"by chance", true},
                 {""}},
                rows);
  fmt::print(
      "A kind: a user's jobs of one name, counted once a node. By chance: the probability of as "
      "many failures at the rate of\nthe other nodes (exact binomial test, Holm's correction for "
      "so many nodes); a node below 0.01 is suspicious.\n");
  return kDone;
}

Result<int> nodes(const NodesOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.failures) return failures(*client, options);
  const bool drains = !options.drain.empty();
  const std::string& changed = drains ? options.drain : options.resume;
  if (!changed.empty()) {
    const auto said =
        client->put("/v1/nodes/" + changed, nlohmann::json{{"drained", drains}}.dump());
    if (!said) return tl::unexpected(said.error());
  }
  if (options.output == "json") return print_answer(*client, "/v1/nodes");
  const auto said = client->get("/v1/nodes");
  if (!said) return tl::unexpected(said.error());
  const auto found = serve::read_nodes(said->body);
  if (!found) return tl::unexpected(found.error());
  print(*found);
  return kDone;
}

}  // namespace

void register_nodes(Program& program) {
  CLI::App& command =
      program.command(Purpose::jobs, "nodes", "Show the service's GPUs and which jobs hold them");
  const auto options = std::make_shared<NodesOptions>();
  CLI::Option* const drain =
      command.add_option("--drain", options->drain, "Start nothing new on this node")
          ->type_name("NODE");
  command.add_option("--resume", options->resume, "Start jobs on it again")
      ->type_name("NODE")
      ->excludes(drain);
  CLI::Option* const failures = command.add_flag(
      "--failures", options->failures, "Say on which nodes more jobs failed than chance explains");
  failures->excludes(drain);
  command.add_option("--since", options->since, "Of jobs that ended since: 30d, 2026-11-22")
      ->type_name("TIME")
      ->needs(failures)
      ->capture_default_str();
  add_output(command, options->output, {"table", "json"});
  options->service.add_to(command);
  add_example(command, "almanac nodes");
  add_example(command, "almanac nodes --failures --since 30d");
  program.on(command, [options] { return nodes(*options); });
}

}  // namespace almanac::cli
