// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job requires of nodes, and what it gets.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "slurmctld/nodes/node_table.h"

namespace almanac::slurmctld {

/// What a number of GPUs is requested for: --gpus-per-node (or --gres), --gpus, --gpus-per-task,
/// --gpus-per-socket.
enum class GpuScope : std::uint8_t { none, node, job, task, socket };

/// Nodes with one of `any_of`; a job needs all terms: "a100&(nvlink|pcie)" has two.
struct FeatureTerm {
  std::vector<TypeId> any_of{};

  auto operator<=>(const FeatureTerm&) const = default;
};

/// The request of a job, as slurmctld keeps it after sbatch has filled in what follows from other
/// options.
struct NodeRequest {
  int min_nodes = 1;
  int max_nodes = 0;      ///< 0 = no bound.
  bool is_range = false;  ///< -N a-b: as many nodes as possible, up to max_nodes.
  int tasks = 1;
  bool tasks_given = false;  ///< Whether the user gave -n.
  int cpus_per_task = 1;
  int tasks_per_node = 0;    ///< 0 = not given.
  int tasks_per_socket = 0;  ///< 0 = not given.
  int cores_per_socket = 0;  ///< Free cores that a socket must have; 0 = not given.
  int sockets_per_node = 1;
  int least_cpus_per_node = 1;  ///< --mincpus.
  int memory_per_cpu_mb = 0;
  int memory_per_node_mb = 0;  ///< 0 = per CPU.
  int memory_per_task_mb = 0;  ///< For hosts that count so; sbatch has no such option. 0 = per CPU.
  bool whole_memory = false;   ///< --mem=0.
  bool one_thread_per_core = false;   ///< One CPU of the request takes a whole core.
  bool charges_idle_threads = false;  ///< Memory per CPU counts the idle threads of its cores.
  GpuScope gpu_scope = GpuScope::none;
  int gpus = 0;
  TypeId gpu_type = kAnyGpu;
  int cpus_per_gpu = 0;
  int nvlink_gpus = 0;  ///< GPUs of a group that shares an NVLink domain; 0 = no groups.
  bool exclusive = false;
  bool contiguous = false;
  std::vector<NodeAt> required{};
  std::vector<NodeAt> excluded{};
  std::vector<FeatureTerm> features{};
  /// All nodes must have the same one of these, tried in order ("[rack1|rack2]"); empty = any.
  std::vector<TypeId> one_of{};

  /// CPUs of all tasks, at least one on each node.
  int least_cpus() const {
    const int cpus = tasks * cpus_per_task;
    return cpus > min_nodes ? cpus : min_nodes;
  }
  auto operator<=>(const NodeRequest&) const = default;
};

/// The most sockets of a node that are counted separately; those beyond count as the last one.
inline constexpr int kMostSockets = 8;

/// What a job holds of one node.
struct Share {
  NodeAt node = 0;
  int cpus = 0;  ///< In whole cores.
  int memory_mb = 0;
  std::vector<GpuCount> gpus{};
  std::array<std::int16_t, kMostSockets> cores{};  ///< Of each socket.

  int num_gpus() const {
    int count = 0;
    for (const GpuCount& each : gpus) count += each.count;
    return count;
  }
  bool operator==(const Share&) const = default;
};

/// The partition of allocations that are of none.
inline constexpr std::uint32_t kNoPartition = ~std::uint32_t{0};

/// What a job holds.
struct Allocation {
  std::vector<Share> shares{};  ///< In the order of the node table.
  std::uint32_t partition = 0;
  int row = 0;         ///< Layer of jobs that share cores (OverSubscribe=FORCE).
  bool whole = false;  ///< Whether it holds whole nodes.

  int cpus() const {
    int sum = 0;
    for (const Share& each : shares) sum += each.cpus;
    return sum;
  }
};

/// What a partition says about the choice of nodes.
struct PartitionRules {
  std::uint32_t id = 0;        ///< Position among the partitions.
  bool least_loaded = false;   ///< LLN=YES.
  bool exclusive = false;      ///< OverSubscribe=EXCLUSIVE.
  int most_cpus_per_node = 0;  ///< MaxCPUsPerNode; 0 = no limit.
  int rows = 1;                ///< Jobs that may share a core: n of OverSubscribe=FORCE:n.
  int min_nodes = 1;
  int max_nodes = 0;  ///< 0 = no limit.
};

PartitionRules rules_of(const site::Partition& partition, std::uint32_t id);

}  // namespace almanac::slurmctld
