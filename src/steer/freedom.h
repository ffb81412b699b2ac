// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs of a Slurm could lie on other nodes as well, as far as Slurm is concerned.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slurm/job.h"
#include "steer/mirror.h"
#include "steer/world.h"

namespace almanac::steer {

/// Both outlive it. Cost: O(nodes), and O(nodes) for each partition that is asked for.
class Freedom {
 public:
  Freedom(const Mirror& mirror, const World& world);

  /// Whether a job may lie on every node of its virtual cluster: it names no nodes, features or
  /// reservation, its partition has all of them, it is no part of a heterogeneous job.
  bool has_any_node(const slurm::Job& job);
  /// Whether it asks no more nodes than its GPUs need.
  bool lies_on_few_nodes(const slurm::Job& job) const;
  /// Whether a requeue would let a job that runs begin again on any node.
  bool may_move(const slurm::Job& job) {
    return job.state == slurm::State::running && job.requeueable && has_any_node(job);
  }

 private:
  const World& world_;
  std::map<VcId, std::vector<const slurm::Node*>> nodes_;
  std::map<std::string, bool> known_;  // by partition
};

}  // namespace almanac::steer
