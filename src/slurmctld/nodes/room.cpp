// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/room.h"

#include <algorithm>

namespace almanac::slurmctld {

Room::Room(const NodeTable& table)
    : table_(&table),
      used_cpus_(table.size()),
      used_memory_mb_(table.size()),
      jobs_(table.size()),
      sharing_jobs_(table.size()),
      used_cores_(table.size()) {
  for (const Node& node : table.nodes) {
    first_gpu_.push_back(static_cast<std::uint32_t>(used_gpus_.size()));
    used_gpus_.resize(used_gpus_.size() + node.gpus.size());
    int gpus = 0;
    for (const GpuCount& each : node.gpus) gpus += each.count;
    free_gpus_.push_back(gpus);
  }
  const int most = free_gpus_.empty() ? 0 : *std::max_element(free_gpus_.begin(), free_gpus_.end());
  nodes_with_.resize(static_cast<std::size_t>(most) + 1, NodeBits(table.size()));
  for (NodeAt node = 0; node < table.size(); ++node) {
    for (int count = 0; count < free_gpus_[node]; ++count) {
      nodes_with_[static_cast<std::size_t>(count)].insert(node);
    }
  }
}

void Room::change_free_gpus(NodeAt node, int change) {
  int& free = free_gpus_[node];
  for (; change < 0; ++change) {
    if (--free >= 0) nodes_with_[static_cast<std::size_t>(free)].erase(node);
  }
  for (; change > 0; --change) {
    if (++free > 0) nodes_with_[static_cast<std::size_t>(free - 1)].insert(node);
  }
}

void Room::watch(const PartitionRules& partition) {
  if (partition.most_cpus_per_node > 0) counted_[partition.id].resize(table_->size());
  if (partition.rows <= 1) return;
  rows_.push_back(
      {partition.id, {static_cast<std::size_t>(partition.rows), std::vector<int>(table_->size())}});
}

void Room::change(const Allocation& allocation, int sign) {
  const auto counted = counted_.find(allocation.partition);
  const auto rows = std::find_if(rows_.begin(), rows_.end(), [&](const Rows& each) {
    return each.partition == allocation.partition;
  });
  for (const Share& share : allocation.shares) {
    const NodeAt node = share.node;
    if (rows != rows_.end()) {
      rows->used[static_cast<std::size_t>(allocation.row)][node] += sign * share.cpus;
      sharing_jobs_[node] += sign;
    } else {
      used_cpus_[node] += sign * share.cpus;
    }
    if (counted != counted_.end()) counted->second[node] += sign * share.cpus;
    used_memory_mb_[node] += sign * share.memory_mb;
    jobs_[node] += sign;
    for (std::size_t at = 0; at < share.cores.size(); ++at) {
      used_cores_[node][at] =
          static_cast<std::int16_t>(used_cores_[node][at] + sign * share.cores[at]);
    }
    const std::vector<GpuCount>& has = table_->nodes[node].gpus;
    for (const GpuCount& each : share.gpus) {
      for (std::size_t at = 0; at < has.size(); ++at) {
        if (has[at].type != each.type) continue;
        used_gpus_[first_gpu_[node] + at] += sign * each.count;
        change_free_gpus(node, -sign * each.count);
      }
    }
  }
}

int Room::shared_cpus(NodeAt node) const {
  int sum = 0;
  for (const Rows& each : rows_) {
    // The jobs of the rows lie on top of each other.
    int most = 0;
    for (const auto& row : each.used) most = std::max(most, row[node]);
    sum += most;
  }
  return sum;
}

int Room::free_cpus(NodeAt node, const PartitionRules& partition, int row) const {
  int used = used_cpus_[node];
  for (const Rows& each : rows_) {
    if (each.partition == partition.id) {
      used += each.used[static_cast<std::size_t>(row)][node];
      continue;
    }
    int most = 0;
    for (const auto& other : each.used) most = std::max(most, other[node]);
    used += most;
  }
  return table_->nodes[node].cpus - used;
}

int Room::partition_cpus(NodeAt node, std::uint32_t partition) const {
  const auto found = counted_.find(partition);
  return found == counted_.end() ? 0 : found->second[node];
}

int Room::free_gpus(NodeAt node, TypeId type) const {
  if (type == kAnyGpu) return free_gpus_[node];
  const std::vector<GpuCount>& has = table_->nodes[node].gpus;
  int sum = 0;
  for (std::size_t at = 0; at < has.size(); ++at) {
    if (has[at].type != type) continue;
    sum += has[at].count - used_gpus_[first_gpu_[node] + at];
  }
  return sum;
}

std::array<int, kMostSockets> Room::free_cores(NodeAt node) const {
  const Node& of = table_->nodes[node];
  std::array<int, kMostSockets> free{};
  const int sockets = std::min(of.sockets, kMostSockets);
  const int each = of.cpus / of.threads_per_core / std::max(1, of.sockets);
  for (int at = 0; at < sockets; ++at) {
    free[static_cast<std::size_t>(at)] =
        std::max(0, each - used_cores_[node][static_cast<std::size_t>(at)]);
  }
  return free;
}

std::vector<GpuCount> Room::draw_gpus(NodeAt node, TypeId type, int count) const {
  std::vector<GpuCount> drawn;
  for (const GpuCount& each : table_->nodes[node].gpus) {
    if (count <= 0) break;
    if (type != kAnyGpu && each.type != type) continue;
    const int free = std::min(count, free_gpus(node, each.type));
    if (free <= 0) continue;
    drawn.push_back({each.type, free});
    count -= free;
  }
  return drawn;
}

}  // namespace almanac::slurmctld
