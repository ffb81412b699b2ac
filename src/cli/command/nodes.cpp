// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac nodes: the GPUs of the service and the jobs on them; drains nodes and puts them back
/// into service; shows the nodes on which more jobs failed than chance explains.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/job_list.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "serve/view_json.h"
#include "study/node_failures.h"
#include "text/host_list.h"

namespace almanac::cli {
namespace {

using figure::Cell;

struct NodesOptions {
  ServiceOptions service;
  std::string drain;
  std::string resume;
  std::string gone;
  bool failures = false;
  std::string since = "30d";
  ListOptions list;
};

/// A node, or one of its GPUs.
struct NodeRow {
  const service::NodeView& node;
  const service::GpuView* gpu = nullptr;
  bool hides_jobs = false;  ///< Which jobs use it is not known.
};

std::string state_of(const NodeRow& row) {
  if (row.node.silent) return row.gpu == nullptr && row.node.drained ? "drained, silent" : "silent";
  if (row.gpu == nullptr) return row.node.drained ? "drained" : "up";
  if (!row.gpu->in_service) return row.gpu->trouble;
  if (row.hides_jobs) return "use not known";
  return row.gpu->jobs.empty() ? "idle" : "busy";
}

/// Negative values were not measured.
Cell measured(double value, double scale, const char* unit) {
  return value < 0 ? Cell::nothing("") : Cell(value, fmt::format("{:.3g}{}", scale * value, unit));
}

figure::Listing rows_of(const std::vector<service::NodeView>& nodes, bool hides_jobs) {
  std::vector<NodeRow> all;
  for (const service::NodeView& node : nodes) {
    all.push_back({node, nullptr, hides_jobs});
    for (const service::GpuView& gpu : node.gpus) all.push_back({node, &gpu, hides_jobs});
  }
  figure::Rows rows(all);
  rows.add("node", "NODE", [](const NodeRow& row) { return row.node.name; });
  rows.add(figure::Tier::key, "gpu", "GPU", [](const NodeRow& row) {
    return row.gpu == nullptr ? Cell::nothing("") : Cell(row.gpu->number);
  });
  rows.add(figure::Tier::key, "state", "STATE", state_of);
  rows.add("use", "USE", [](const NodeRow& row) {
    if (row.gpu != nullptr) return measured(row.gpu->use, 100, " %");
    if (row.node.cpus <= 0 || row.hides_jobs) return Cell::nothing("");
    return Cell(row.node.cpus_held / row.node.cpus,
                fmt::format("{:g}/{:g} cores", row.node.cpus_held, row.node.cpus));
  });
  rows.add("memory_gb", "MEMORY", [](const NodeRow& row) {
    if (row.gpu != nullptr) return measured(row.gpu->memory_gb, 1, " GB");
    if (row.node.memory_gb <= 0 || row.hides_jobs) return Cell::nothing("");
    return Cell(row.node.memory_held_gb,
                fmt::format("{:g}/{:g} GB", row.node.memory_held_gb, row.node.memory_gb));
  });
  rows.add(figure::Tier::detail, "power_w", "POWER", [](const NodeRow& row) {
    return measured(row.gpu == nullptr ? -1 : row.gpu->power_w, 1, " W");
  });
  rows.add("jobs", "JOBS", [](const NodeRow& row) {
    std::vector<std::int64_t> jobs;
    if (row.gpu != nullptr) {
      for (const auto each : row.gpu->jobs) jobs.push_back(static_cast<std::int64_t>(each));
    }
    return fmt::format("{}", fmt::join(jobs, ","));
  });
  rows.add(figure::Tier::wide, "vc", "VC", [](const NodeRow& row) { return row.node.vc; });
  const auto add_node = [&](const char* name, const char* label, double service::NodeView::*of) {
    rows.add(figure::Tier::data, name, label,
             [of](const NodeRow& row) { return row.gpu == nullptr ? Cell(row.node.*of) : Cell(); });
  };
  add_node("node_cpus", "CPUS", &service::NodeView::cpus);
  add_node("node_memory_gb", "MEMORY_GB", &service::NodeView::memory_gb);
  return rows;
}

/// Prints for each node how many jobs failed on it, and the probability of that by chance.
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
  if (records.empty() && options.list.explains()) {
    fmt::print("No node has run five kinds of jobs since {}: too few to compare nodes.\n",
               options.since);
    return kDone;
  }
  using study::NodeRecord;
  figure::Rows rows(records);
  rows.add("node", &NodeRecord::node);
  rows.add("kinds", "kinds of jobs", &NodeRecord::kinds);
  rows.add(figure::Tier::key, "failed", &NodeRecord::failed);
  rows.add("expected", [](const NodeRecord& each) {
    return Cell(each.expected, fmt::format("{:.1f}", each.expected));
  });
  rows.add("p_value", "p-value", [](const NodeRecord& each) {
    return Cell(each.p_value, fmt::format("{:.2g}", each.p_value));
  });
  rows.add(figure::Tier::key, "suspicious", "", [](const NodeRecord& each) {
    return Cell(each.is_suspicious(), each.is_suspicious() ? "drain and test it" : "");
  });
  return options.list.print(
      std::move(rows),
      "A kind of job is a user's jobs with one name, counted once per node. The p-value is the "
      "probability of as many failures at the other nodes' failure rate (exact binomial test, "
      "Holm's correction); a node below 0.01 is suspicious.\n");
}

Result<int> nodes(const NodesOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.failures) return failures(*client, options);
  if (!options.gone.empty()) {
    const auto said = client->post(fmt::format("/v1/boxes/{}/gone", options.gone));
    if (!said) return tl::unexpected(said.error());
  }
  const bool drains = !options.drain.empty();
  const std::string& changed = drains ? options.drain : options.resume;
  if (!changed.empty()) {
    const auto said =
        client->put("/v1/nodes/" + changed, nlohmann::json{{"drained", drains}}.dump());
    if (!said) return tl::unexpected(said.error());
  }
  if (options.list.wants_document()) return relay_answer(*client, "/v1/nodes");
  const auto said = client->get("/v1/nodes");
  if (!said) return tl::unexpected(said.error());
  const auto found = serve::read_nodes(said->body);
  if (!found) return tl::unexpected(found.error());
  const auto asked = client->get("/v1/overview");
  if (!asked) return tl::unexpected(asked.error());
  const auto overview = serve::read_overview(asked->body);
  if (!overview) return tl::unexpected(overview.error());
  // Kueue does not say on which nodes the pods of a workload run.
  return options.list.print(rows_of(*found, overview->manager == "kubernetes"));
}

}  // namespace

void register_nodes(Program& program) {
  CLI::App& command = program.command(Purpose::jobs, "nodes",
                                      "Show GPUs and their jobs; drain, resume and check nodes");
  const auto options = std::make_shared<NodesOptions>();
  CLI::Option* const drain =
      command.add_option("--drain", options->drain, "Drain this node: start no new jobs on it")
          ->type_name("NODE");
  command.add_option("--resume", options->resume, "Return this node to service")
      ->type_name("NODE")
      ->excludes(drain);
  command
      .add_option("--gone", options->gone,
                  "Declare that this box is off and runs nothing: its jobs are lost, or run again "
                  "with --requeue")
      ->type_name("BOX")
      ->excludes(drain);
  CLI::Option* const failures =
      command.add_flag("--failures", options->failures,
                       "Test which nodes have more failed jobs than chance explains");
  failures->excludes(drain);
  command.add_option("--since", options->since, "Only jobs that ended since then: 30d, 2026-11-22")
      ->type_name("TIME")
      ->needs(failures)
      ->capture_default_str();
  options->list.add_to(command);
  options->service.add_to(command);
  add_example(command, "almanac nodes");
  add_example(command, "almanac nodes --drain gpu017");
  add_example(command, "almanac nodes --resume gpu017");
  add_example(command, "almanac nodes --gone box2");
  add_example(command, "almanac nodes --failures --since 30d");
  options->list.on(program, command, [options] { return nodes(*options); });
}

}  // namespace almanac::cli
