// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/node_table.h"

#include <algorithm>
#include <cctype>

namespace almanac::slurmctld {
namespace {

void set_hops(std::vector<Switch>& switches, const std::vector<SwitchLine>& lines) {
  const std::size_t count = switches.size();
  for (std::size_t at = 0; at < count; ++at) {
    switches[at].hops.assign(count, Switch::kUnreachable);
    switches[at].hops[at] = 0;
  }
  for (std::size_t at = 0; at < count; ++at) {
    for (const std::size_t child : lines[at].children) {
      switches[at].hops[child] = switches[child].hops[at] = 1;
    }
  }
  for (std::size_t over = 0; over < count; ++over) {
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        const int through = switches[from].hops[over] + switches[over].hops[to];
        switches[from].hops[to] = std::min(switches[from].hops[to], through);
      }
    }
  }
}

TypeId number_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<TypeId>(found - names.begin());
  names.push_back(name);
  return static_cast<TypeId>(names.size() - 1);
}

std::optional<TypeId> find(const std::vector<std::string>& names, std::string_view name) {
  const auto equal = [&](const std::string& each) {
    return std::equal(each.begin(), each.end(), name.begin(), name.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) ==
             std::tolower(static_cast<unsigned char>(b));
    });
  };
  const auto found = std::find_if(names.begin(), names.end(), equal);
  if (found == names.end()) return std::nullopt;
  return static_cast<TypeId>(found - names.begin());
}

Node make_node(const site::Node& from, NodeTable& table) {
  Node node{.name = from.name,
            .cpus = from.effective_cpus,
            .sockets = std::max(1, from.sockets),
            .threads_per_core = std::max(1, from.threads_per_core),
            .memory_mb = static_cast<int>(from.memory_mb - from.reserved_memory_mb),
            .weight = static_cast<int>(from.weight)};
  for (const site::NodeGres& each : from.gres) {
    if (each.name != "gpu" || each.count == 0) continue;
    node.gpus.push_back({number_of(table.gpu_types, each.type), static_cast<int>(each.count)});
  }
  for (const std::string& each : from.features) {
    node.features.push_back(number_of(table.features, each));
  }
  return node;
}

}  // namespace

NodeTable make_node_table(const site::Site& site) {
  NodeTable table;
  for (const site::Node& each : site.nodes) table.nodes.push_back(make_node(each, table));
  if (site.config.topology.type != site::TopologyType::tree) return table;
  std::vector<SwitchLine> lines;
  for (const site::Switch& each : site.switches) {
    SwitchLine line{.name = each.name};
    if (each.level == 0) line.nodes = each.nodes;
    line.children.assign(each.below.begin(), each.below.end());
    lines.push_back(std::move(line));
  }
  set_switches(table, lines);
  return table;
}

std::optional<TypeId> NodeTable::find_gpu_type(std::string_view name) const {
  return find(gpu_types, name);
}

std::optional<TypeId> NodeTable::find_feature(std::string_view name) const {
  return find(features, name);
}

std::optional<NodeAt> NodeTable::find_node(std::string_view name) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& each) { return each.name == name; });
  if (found == nodes.end()) return std::nullopt;
  return static_cast<NodeAt>(found - nodes.begin());
}

void set_switches(NodeTable& table, const std::vector<SwitchLine>& lines) {
  table.switches.clear();
  for (std::size_t at = 0; at < lines.size(); ++at) {
    Switch each{.name = lines[at].name, .nodes = NodeBits(table.size()), .parent = at};
    for (const NodeAt node : lines[at].nodes) each.nodes.insert(node);
    table.switches.push_back(std::move(each));
  }
  // A line may name switches of later lines: each round lifts one more level.
  for (std::size_t round = 0; round < lines.size(); ++round) {
    for (std::size_t at = 0; at < lines.size(); ++at) {
      for (const std::size_t child : lines[at].children) {
        table.switches[child].parent = at;
        table.switches[at].level =
            std::max(table.switches[at].level, table.switches[child].level + 1);
        table.switches[at].nodes |= table.switches[child].nodes;
      }
    }
  }
  set_hops(table.switches, lines);
}

}  // namespace almanac::slurmctld
