// SPDX-License-Identifier: Apache-2.0

/// \file
/// When nodes fail, whatever runs on them: a Poisson process for each node.
///
/// The failures of a node depend on the seed, its virtual cluster and its place there only, not on
/// policies, until replace().
/// Failures of a node that is out of service are drawn all the same, and the caller ignores them.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "faults/model.h"

namespace almanac::faults {

/// Cost     24 bytes per node; O(log nodes) per failure.
class NodeFaults {
 public:
  struct Fault {
    Time at{};
    NodeId node{};
    std::uint16_t cause = 0;
    bool is_notice = false;  ///< The node only announces a failure, at `fails_at`.
    Time fails_at{};
    Duration repair{0};
  };

  /// The processes begin at `begin`. Both references must outlive it.
  NodeFaults(const Model& model, const cluster::Cluster& cluster, std::uint64_t seed, Time begin);

  /// Returns when next() happens; kNever if no node fails.
  Time next_at() const { return queue_.empty() ? kNever : queue_.top().at; }
  /// Returns the next failure or notice, and goes on.
  Fault take();
  /// Returns the repair time of a node that has failed already, for one of its causes.
  Duration draw_repair(NodeId node);
  bool is_lemon(NodeId node) const { return nodes_[index(node)].lemon; }
  /// The node is replaced by a healthy one at `now`.
  void replace(NodeId node, Time now);
  std::uint32_t lemons() const { return lemons_; }

 private:
  struct Node {
    Rng rng;
    double per_ms = 0;
    bool lemon = false;
    std::uint32_t generation = 0;
  };
  struct Entry {
    Fault fault{};
    std::uint32_t generation = 0;
    Time at{};
    friend bool operator>(const Entry& a, const Entry& b) {
      return a.at != b.at ? a.at > b.at : a.fault.node > b.fault.node;
    }
  };
  void draw(NodeId node, Time after);
  struct Kind {
    std::uint16_t cause = 0;
    Duration repair{0};
  };
  Kind draw_kind(NodeId node);
  void drop_replaced();
  std::uint16_t draw_cause(Rng& rng, int gpus) const;

  const Model& model_;
  const cluster::Cluster& cluster_;
  std::vector<Node> nodes_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::uint32_t lemons_ = 0;
};

}  // namespace almanac::faults
