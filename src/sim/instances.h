// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which instances stand on the GPUs that are cut, in use or not, and what has to be done so that a
/// job finds its own.
///
/// An instance stays when its job ends, until its place is needed: a job that gets a place where
/// the instance stands waits for nothing. No GPU is cut at the beginning.
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

  /// Whether any GPU can be cut.
  bool any() const { return any_; }
  /// Removes what is in the way of `held`, which a job starts with, and makes what it lacks. Gives
  /// how long that takes: one after another, NodeClass::instance_s each.
  Duration make(std::span<const cluster::Grant> held);
  /// How many have been made and removed so far.
  std::int64_t operations() const { return operations_; }

 private:
  const cluster::Cluster& cluster_;
  bool any_ = false;
  std::map<std::pair<NodeId, int>, slices::Layout> layouts_;  // of GPUs that were ever cut
  std::int64_t operations_ = 0;
};

}  // namespace almanac::sim
