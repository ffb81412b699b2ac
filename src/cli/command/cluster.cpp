// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac cluster show | infer | discover: a cluster as text, or as TOML to edit.
#include "site/cluster.h"

#include <memory>

#include <fmt/format.h>

#include "cli/cluster_option.h"
#include "cli/list_options.h"
#include "cli/trace_options.h"
#include "cluster/read.h"
#include "experiment/infer_cluster.h"
#include "machine/machine.h"

namespace almanac::cli {
namespace {

/// "8xV100 4xA100": the kinds of nodes of a virtual cluster.
std::string types_of(const cluster::Cluster& cluster, const cluster::VirtualCluster& vc) {
  std::vector<bool> seen(cluster.classes.size());
  std::string types;
  for (std::uint32_t node = 0; node < vc.num_nodes; ++node) {
    const std::uint32_t make = cluster.nodes[index(vc.first) + node].node_class;
    if (seen[make]) continue;
    seen[make] = true;
    const cluster::NodeClass& described = cluster.classes[make];
    if (described.gpus == 0) continue;
    types += fmt::format("{}{}x{}", types.empty() ? "" : " ", described.gpus,
                         described.gpu_type.empty() ? "gpu" : described.gpu_type);
  }
  return types;
}

figure::Listing rows_of(const cluster::Cluster& cluster) {
  using cluster::VirtualCluster;
  figure::Rows rows(cluster.vcs);
  rows.add("vc", &VirtualCluster::name);
  rows.add("nodes", &VirtualCluster::num_nodes);
  rows.add("gpus", "GPUs", [&](const VirtualCluster& vc) {
    return cluster.gpus(VcId{static_cast<std::uint32_t>(&vc - cluster.vcs.data())});
  });
  rows.add("gpu_types", "GPU types",
           [&](const VirtualCluster& vc) { return types_of(cluster, vc); });
  return rows;
}

std::string summary_of(const cluster::Cluster& cluster) {
  return fmt::format(
      "{} nodes, {} GPUs, {} virtual clusters{}\n{}", cluster.nodes.size(), cluster.gpus(),
      cluster.vcs.size(), cluster.takes_every_job ? " (accepts every job)" : "",
      cluster.changes.empty() ? ""
                              : fmt::format("{} changes of capacity\n", cluster.changes.size()));
}

std::string connections_of(const cluster::Cluster& cluster) {
  std::string made;
  for (const cluster::NodeClass& make : cluster.classes) {
    if (make.sockets == 1 && make.connections.empty()) continue;
    made += fmt::format(
        "\nHow the GPUs of a node of {}x{} are connected:\n{}NVn: n links of NVLink; PIX: one PCIe "
        "switch; NODE: within a socket; SYS: across sockets\n",
        make.gpus, make.gpu_type.empty() ? "gpu" : make.gpu_type, table_of_ways(make));
  }
  return made;
}

/// Prints the cluster; as TOML what `toml` is, "" = what the cluster is.
Result<int> show_cluster(const Result<cluster::Cluster>& cluster, const ListOptions& list,
                         const std::string& toml = "") {
  if (!cluster) return tl::unexpected(cluster.error());
  for (const std::string& text : cluster->notes) note(text);
  if (list.output == "toml") {
    fmt::print("{}", toml.empty() ? cluster::to_toml(*cluster) : toml);
    return kDone;
  }
  if (list.explains()) fmt::print("{}", summary_of(*cluster));
  return list.print(rows_of(*cluster), connections_of(*cluster));
}

const std::vector<std::string> kForms{"table", "wide", "json", "csv", "toml"};

}  // namespace

void register_cluster(Program& program) {
  CLI::App& noun =
      program.noun(Purpose::understand, "cluster", "Inspect, infer and rearrange clusters");
  const auto text = std::make_shared<std::string>();
  const auto shown_as = std::make_shared<ListOptions>();
  CLI::App& show = *noun.add_subcommand("show", "Show a cluster; -o toml converts its file");
  show.add_option("CLUSTER", *text, kClusterForms)->required();
  shown_as->add_to(show, kForms);
  add_example(show, "almanac cluster show 20x8 -o toml");
  program.on(show, [text, shown_as] { return show_cluster(site::read_cluster(*text), *shown_as); });

  const auto trace = std::make_shared<TraceOptions>();
  const auto inferred_as = std::make_shared<ListOptions>();
  CLI::App& infer = *noun.add_subcommand("infer", "Infer a cluster from a job log");
  trace->add_to(infer);
  inferred_as->add_to(infer, {"toml", "table", "wide", "json", "csv"});
  add_example(infer, "almanac cluster infer log.csv > cluster.toml");
  program.on(infer, [trace, inferred_as]() -> Result<int> {
    const auto loaded = trace->load();
    if (!loaded) return tl::unexpected(loaded.error());
    const auto inferred = experiment::infer(*loaded);
    if (!inferred) return tl::unexpected(inferred.error());
    return show_cluster(inferred->cluster, *inferred_as, experiment::to_toml(*inferred));
  });

  const auto found_as = std::make_shared<ListOptions>();
  CLI::App& discover = *noun.add_subcommand(
      "discover", "Show this machine's GPUs and their connections, as almanac serve sees them");
  found_as->add_to(discover, kForms);
  add_example(discover, "almanac cluster discover -o toml > machine.toml");
  program.on(discover, [found_as]() -> Result<int> {
    auto machine = machine::find_machine("");
    if (!machine) return tl::unexpected(machine.error());
    for (const std::string& each : machine->notes) note(each);
    return show_cluster(std::move(machine->cluster), *found_as);
  });
}

}  // namespace almanac::cli
