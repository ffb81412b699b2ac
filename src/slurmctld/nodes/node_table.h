// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes and switches of a Slurm cluster, as slurm.conf and topology.conf describe them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  int weight = 1;  ///< Lighter nodes are used first.
  std::vector<GpuCount> gpus{};
  std::vector<TypeId> features{};
};

/// A switch of topology/tree. A leaf has nodes, another one has switches below it.
struct Switch {
  std::string name{};
  NodeBits nodes{};          ///< All nodes below it.
  int level = 0;             ///< 0 for a leaf, otherwise one above its highest child.
  std::size_t parent = 0;    ///< Itself for a root.
  std::vector<int> hops{};   ///< Links to each switch; kUnreachable without a path.
  static constexpr int kUnreachable = 1'000'000'000;
};

struct NodeTable {
  std::vector<Node> nodes{};
  std::vector<Switch> switches{};  ///< In the order of topology.conf; empty without topology/tree.

  std::size_t size() const { return nodes.size(); }
};

/// A line of topology.conf: the nodes, or the positions of the switches, below a switch.
struct SwitchLine {
  std::string name{};
  std::vector<NodeAt> nodes{};
  std::vector<std::size_t> children{};
};

/// Computes levels, parents and distances of the switches. Cost: O(switches cubed).
void set_switches(NodeTable& table, const std::vector<SwitchLine>& lines);

}  // namespace almanac::slurmctld
