// SPDX-License-Identifier: Apache-2.0

/// \file
/// What running jobs leave of each node.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "slurmctld/nodes/request.h"

namespace almanac::slurmctld {

/// Resources in use on all nodes. A copy answers what-if questions. CPUs and GPUs are counted, not
/// named. Cores that jobs share (OverSubscribe=FORCE) are counted in rows, as slurmctld does.
class Room {
 public:
  /// `table` must outlive it.
  explicit Room(const NodeTable& table);

  void take(const Allocation& allocation) { change(allocation, +1); }
  void give_back(const Allocation& allocation) { change(allocation, -1); }

  /// Declares a partition with MaxCPUsPerNode or rows, whose jobs are counted apart.
  void watch(const PartitionRules& partition);

  /// CPUs that no job uses.
  int free_cpus(NodeAt node) const {
    return table_->nodes[node].cpus - used_cpus_[node] - (rows_.empty() ? 0 : shared_cpus(node));
  }
  /// CPUs that a job in row `row` of a watched partition may use.
  int free_cpus(NodeAt node, const PartitionRules& partition, int row) const;
  /// CPUs that the jobs of a watched partition use.
  int partition_cpus(NodeAt node, std::uint32_t partition) const;
  int free_memory_mb(NodeAt node) const {
    return table_->nodes[node].memory_mb - used_memory_mb_[node];
  }
  int used_memory_mb(NodeAt node) const { return used_memory_mb_[node]; }
  /// Nodes with at least `gpus` free GPUs of any types; at least 1.
  const NodeBits& nodes_with(int gpus) const {
    return nodes_with_[std::min(static_cast<std::size_t>(gpus), nodes_with_.size()) - 1];
  }
  /// GPUs of a type, or of all types for kAnyGpu.
  int free_gpus(NodeAt node, TypeId type) const;
  /// Free cores of each socket.
  std::array<int, kMostSockets> free_cores(NodeAt node) const;
  bool is_idle(NodeAt node) const { return jobs_[node] == 0; }
  /// Whether the jobs on a node share cores, or share none, as those of the partition do. Both
  /// kinds never meet on a node.
  bool suits(NodeAt node, const PartitionRules& partition) const {
    return partition.rows > 1 ? jobs_[node] == sharing_jobs_[node] : sharing_jobs_[node] == 0;
  }
  const NodeTable& table() const { return *table_; }

  /// Draws GPUs from a node without taking them: of `type`, or of any type in order.
  std::vector<GpuCount> draw_gpus(NodeAt node, TypeId type, int count) const;

 private:
  /// CPUs in use by each row of a partition, by node.
  struct Rows {
    std::uint32_t partition = 0;
    std::vector<std::vector<int>> used{};
  };

  void change(const Allocation& allocation, int sign);
  void change_free_gpus(NodeAt node, int change);
  int shared_cpus(NodeAt node) const;

  const NodeTable* table_;
  std::vector<int> used_cpus_;
  std::vector<int> used_memory_mb_;
  std::vector<int> used_gpus_;            // by node and position in Node::gpus
  std::vector<std::uint32_t> first_gpu_;  // in used_gpus_
  std::vector<int> free_gpus_;            // of all types, by node
  std::vector<NodeBits> nodes_with_;      // by free GPUs less 1; the last has none
  std::vector<int> jobs_;
  std::vector<int> sharing_jobs_;  // of partitions with rows
  std::vector<std::array<std::int16_t, kMostSockets>> used_cores_;
  std::vector<Rows> rows_;
  std::map<std::uint32_t, std::vector<int>> counted_;  // CPUs by node of partitions with a limit
};

}  // namespace almanac::slurmctld
