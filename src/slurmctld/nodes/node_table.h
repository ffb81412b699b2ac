// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes and switches of a Slurm cluster, as slurm.conf and topology.conf describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "site/site.h"
#include "slurmctld/nodes/node_bits.h"

namespace almanac::slurmctld {

/// Number of a GPU type or node feature; kAnyGpu stands for every type.
using TypeId = std::int16_t;
inline constexpr TypeId kAnyGpu = -1;

/// GPUs of one type on one node.
struct GpuCount {
  TypeId type = 0;
  int count = 0;

  bool operator==(const GpuCount&) const = default;
};

struct Node {
  std::string name{};
  int cpus = 1;
  int sockets = 1;
  int threads_per_core = 1;
  int memory_mb = 0;
  int weight = 1;  ///< Nodes with low weight are used first.
  std::vector<GpuCount> gpus{};
  std::vector<TypeId> features{};
};

/// A switch of topology/tree. A leaf has nodes, another one has switches below it.
struct Switch {
  std::string name{};
  NodeBits nodes{};         ///< All nodes below it.
  int level = 0;            ///< 0 for a leaf, otherwise one above its highest child.
  std::size_t parent = 0;   ///< Itself for a root.
  std::vector<int> hops{};  ///< Links to each switch; kUnreachable without a path.
  static constexpr int kUnreachable = 1'000'000'000;
};

struct NodeTable {
  std::vector<Node> nodes{};
  std::vector<Switch> switches{};  ///< In the order of topology.conf; empty without topology/tree.
  std::vector<std::string> gpu_types{};  ///< By TypeId, in order of first mention; "" if untyped.
  std::vector<std::string> features{};   ///< By TypeId.

  /// NVLink domains by node: equal numbers share one. Empty: each node is a domain.
  std::vector<std::uint32_t> nvlink_domains{};

  std::size_t size() const { return nodes.size(); }
  std::uint32_t nvlink_domain(NodeAt node) const {
    return nvlink_domains.empty() ? node : nvlink_domains[node];
  }
  /// Returns the number of a GPU type or feature, or nothing if no node has it. Ignores case.
  std::optional<TypeId> find_gpu_type(std::string_view name) const;
  std::optional<TypeId> find_feature(std::string_view name) const;
  /// Returns the position of a node, or nothing.
  std::optional<NodeAt> find_node(std::string_view name) const;
};

/// A line of topology.conf: the nodes, or the positions of the switches, below a switch.
struct SwitchLine {
  std::string name{};
  std::vector<NodeAt> nodes{};
  std::vector<std::size_t> children{};
};

/// Returns the nodes of a site, and its switches if it uses topology/tree.
NodeTable make_node_table(const site::Site& site);

/// Computes levels, parents and distances of the switches. Cost: O(switches cubed).
void set_switches(NodeTable& table, const std::vector<SwitchLine>& lines);

}  // namespace almanac::slurmctld
