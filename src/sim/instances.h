// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tracks the instances on partitioned GPUs, in use or not, and the changes that a job needs before
/// it can start.
///
/// An instance stays when its job ends, until its place is needed. A job that is placed on a
/// matching instance starts at once. No GPU is partitioned at the start.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "base/time.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "cluster/slices/lattice.h"

namespace almanac::sim {

class Instances {
 public:
  /// `cluster` must outlive it.
  explicit Instances(const cluster::Cluster& cluster);

  /// Whether any GPU can be partitioned.
  bool any() const { return any_; }
  /// Destroys the instances in the way of `held`, the grants of a starting job, and creates the
  /// missing ones. Returns the time that this takes: NodeClass::instance_s per operation, one after
  /// another.
  Duration make(std::span<const cluster::Grant> held);
  /// Number of instances created and destroyed so far.
  std::int64_t operations() const { return operations_; }

 private:
  const cluster::Cluster& cluster_;
  bool any_ = false;
  std::map<std::pair<NodeId, int>, slices::Layout> layouts_;  // of GPUs that were ever partitioned
  std::int64_t operations_ = 0;
};

}  // namespace almanac::sim
