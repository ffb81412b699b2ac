// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac cluster show | infer | discover: a cluster in words, or as TOML to edit.
#include <memory>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/trace_options.h"
#include "cluster/read.h"
#include "live/machine.h"
#include "sim/infer_cluster.h"

namespace almanac::cli {
namespace {

void print_table(const cluster::Cluster& cluster) {
  fmt::print("{} nodes, {} GPUs, {} virtual clusters{}\n", cluster.nodes.size(), cluster.gpus(),
             cluster.vcs.size(), cluster.takes_every_job ? " (takes every job)" : "");
  if (!cluster.changes.empty()) fmt::print("{} changes of capacity\n", cluster.changes.size());
  fmt::print("{:20} {:>6} {:>6}  {}\n", "vc", "nodes", "GPUs", "GPU types");
  for (std::uint32_t at = 0; at < cluster.vcs.size(); ++at) {
    const cluster::VirtualCluster& vc = cluster.vcs[at];
    std::vector<bool> seen(cluster.classes.size());
    std::string types;
    for (std::uint32_t node = 0; node < vc.num_nodes; ++node) {
      const std::uint32_t make = cluster.nodes[index(vc.first) + node].node_class;
      if (seen[make]) continue;
      seen[make] = true;
      const cluster::NodeClass& described = cluster.classes[make];
      types += fmt::format("{}{}x{}", types.empty() ? "" : " ", described.gpus,
                           described.gpu_type.empty() ? "gpu" : described.gpu_type);
    }
    fmt::print("{:20} {:>6} {:>6}  {}\n", vc.name, vc.num_nodes, cluster.gpus(VcId{at}), types);
  }
  for (const cluster::NodeClass& make : cluster.classes) {
    if (make.sockets == 1 && make.connections.empty()) continue;
    fmt::print("\nHow the GPUs of a node of {}x{} are connected:\n{}", make.gpus,
               make.gpu_type.empty() ? "gpu" : make.gpu_type, table_of_ways(make));
    fmt::print(
        "NVn: n links of NVLink; PIX: one PCIe switch; NODE: within a socket; SYS: across "
        "sockets\n");
  }
}

/// `toml` is printed where that was asked for; "" = what the cluster is.
Result<int> print(const Result<cluster::Cluster>& cluster, const std::string& output,
                  const std::string& toml = "") {
  if (!cluster) return tl::unexpected(cluster.error());
  for (const std::string& text : cluster->notes) note(text);
  if (output == "toml") {
    fmt::print("{}", toml.empty() ? cluster::to_toml(*cluster) : toml);
  } else {
    print_table(*cluster);
  }
  return kDone;
}

}  // namespace

void register_cluster(Program& program) {
  CLI::App& noun = program.noun(Purpose::understand, "cluster", "Cluster files");
  const auto text = std::make_shared<std::string>();
  const auto shown_as = std::make_shared<std::string>();
  CLI::App& show =
      *noun.add_subcommand("show", "Show a cluster, or convert it to TOML with -o toml");
  show.add_option("CLUSTER", *text,
                  "TOML or CSV file, slurm.conf, output of scontrol show nodes or sinfo, or NxG")
      ->required();
  add_output(show, *shown_as, {"table", "toml"});
  add_example(show, "almanac cluster show 20x8 -o toml");
  program.on(show, [text, shown_as] { return print(cluster::read_cluster(*text), *shown_as); });

  const auto trace = std::make_shared<TraceOptions>();
  const auto inferred_as = std::make_shared<std::string>();
  CLI::App& infer = *noun.add_subcommand("infer", "Guess the cluster that a job log came from");
  trace->add_to(infer);
  add_output(infer, *inferred_as, {"toml", "table"});
  add_example(infer, "almanac cluster infer log.csv > cluster.toml");
  program.on(infer, [trace, inferred_as]() -> Result<int> {
    const auto loaded = trace->load();
    if (!loaded) return tl::unexpected(loaded.error());
    const auto inferred = sim::infer(*loaded);
    if (!inferred) return tl::unexpected(inferred.error());
    return print(inferred->cluster, *inferred_as, sim::to_toml(*inferred));
  });

  const auto found_as = std::make_shared<std::string>();
  CLI::App& discover = *noun.add_subcommand(
      "discover", "Show this machine as serve finds it: its GPUs and how they are connected");
  add_output(discover, *found_as, {"table", "toml"});
  add_example(discover, "almanac cluster discover -o toml > machine.toml");
  program.on(discover, [found_as]() -> Result<int> {
    auto machine = live::find_machine("");
    if (!machine) return tl::unexpected(machine.error());
    for (const std::string& each : machine->notes) note(each);
    return print(std::move(machine->cluster), *found_as);
  });
}

}  // namespace almanac::cli
