// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac nodes: the GPUs of the service and which jobs hold them; drains a node or brings it
/// back.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/job_list.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "serve/view_json.h"

namespace almanac::cli {
namespace {

struct NodesOptions {
  ServiceOptions service;
  std::string drain;
  std::string resume;
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

Result<int> nodes(const NodesOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
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
  add_output(command, options->output, {"table", "json"});
  options->service.add_to(command);
  add_example(command, "almanac nodes");
  program.on(command, [options] { return nodes(*options); });
}

}  // namespace almanac::cli
