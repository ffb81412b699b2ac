// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs could run on other nodes as well, as far as the manager is concerned.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manager/job.h"
#include "steer/mirror.h"
#include "steer/world.h"

namespace almanac::steer {

/// Both must outlive it. Cost: O(nodes), and O(nodes) for each partition.
class Freedom {
 public:
  Freedom(const Mirror& mirror, const World& world);

  /// Whether a job may run on every node of its virtual cluster: it names no nodes, features or
  /// reservation, its partition has all nodes, and it is not part of a heterogeneous job.
  bool has_any_node(const manager::Job& job);
  /// Whether it requests no more nodes than its GPUs need.
  bool lies_on_few_nodes(const manager::Job& job) const;
  /// Whether a running job could start again on any node after a requeue.
  bool may_move(const manager::Job& job) {
    return job.state == manager::State::running && job.requeueable && has_any_node(job);
  }

 private:
  const World& world_;
  std::map<VcId, std::vector<const manager::Node*>> nodes_;
  std::map<std::string, bool> known_;  // by partition
};

}  // namespace almanac::steer
