// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long nodes run nothing, and for how much of that they could have slept, were the future
/// known and no job delayed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/time.h"
#include "cluster/cluster.h"

namespace almanac::sim {

/// In GPU-seconds: a node counts with its GPUs.
struct SleepBound {
  double asleep_gpu_s = 0;
  double booting_gpu_s = 0;  ///< So that it is there when its next job starts.
};

/// Cost: O(1) a piece of a job that starts or ends.
class IdleGaps {
 public:
  /// Nodes take `boot` to boot; gaps that are no longer than `least` are not worth to sleep in.
  IdleGaps(const cluster::Cluster& cluster, Duration boot, Duration least)
      : cluster_(cluster), boot_(boot), least_(least), nodes_(cluster.nodes.size()) {}

  /// From `now` on all nodes are in service and idle.
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
  /// A node leaves service, or returns to it. One that leaves may still run jobs.
  void set_drained(NodeId id, bool drained, Time now) {
    Node& node = nodes_[index(id)];
    if (node.drained == drained) return;
    if (drained && node.jobs == 0) close(id, now, false);
    node.drained = drained;
    node.idle_since = now;
  }
  /// What could have slept until `now`, when all is over.
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
