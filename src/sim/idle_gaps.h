// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long nodes run nothing, and how much of that time they could have slept if the future were
/// known and no job were delayed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/time.h"
#include "cluster/cluster.h"

namespace almanac::sim {

/// In GPU-seconds: a node counts with all its GPUs.
struct SleepBound {
  double asleep_gpu_s = 0;
  double booting_gpu_s = 0;  ///< Booting in time for the next job.
};

/// Cost: O(1) for each node of a job that starts or ends.
class IdleGaps {
 public:
  /// Nodes take `boot` to boot. Gaps no longer than `least` are not worth sleeping in.
  IdleGaps(const cluster::Cluster& cluster, Duration boot, Duration least)
      : cluster_(cluster), boot_(boot), least_(least), nodes_(cluster.nodes.size()) {}

  /// Marks all nodes as idle and in service from `now` on.
  void begin(Time now) {
    for (Node& node : nodes_) node.idle_since = now;
  }
  void take(NodeId id, Time now) {
    Node& node = nodes_[index(id)];
    if (node.jobs++ == 0) close(id, now, true);
  }
  void give_back(NodeId id, Time now) {
    Node& node = nodes_[index(id)];
    ALMANAC_CHECK(node.jobs > 0, "node {} runs nothing", index(id));
    if (--node.jobs == 0) node.idle_since = now;
  }
  /// Takes a node out of service, or returns it. A node out of service may still run jobs.
  void set_drained(NodeId id, bool drained, Time now) {
    Node& node = nodes_[index(id)];
    if (node.drained == drained) return;
    if (drained && node.jobs == 0) close(id, now, false);
    node.drained = drained;
    node.idle_since = now;
  }
  /// Returns what could have slept until `now`, the end of the simulation.
  SleepBound end(Time now) {
    for (std::uint32_t id = 0; id < nodes_.size(); ++id) {
      if (nodes_[id].jobs == 0) close(NodeId{id}, now, false);
    }
    return bound_;
  }

 private:
  struct Node {
    std::uint32_t jobs = 0;
    bool drained = false;
    Time idle_since{};
  };

  void close(NodeId id, Time now, bool boots) {
    const Node& node = nodes_[index(id)];
    const Duration gap = now - node.idle_since;
    if (node.drained || gap <= (boots ? least_ : Duration{0})) return;
    const double gpus = cluster_.gpus(id);
    bound_.asleep_gpu_s += gpus * seconds(boots ? gap - boot_ : gap);
    if (boots) bound_.booting_gpu_s += gpus * seconds(boot_);
  }

  const cluster::Cluster& cluster_;
  Duration boot_;
  Duration least_;
  std::vector<Node> nodes_;
  SleepBound bound_;
};

}  // namespace almanac::sim
