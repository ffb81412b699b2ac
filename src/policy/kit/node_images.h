// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes of a ledger as the scores of `fragment` see them, updated from the ledger.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ledger.h"
#include "rules/fragment/mix.h"
#include "rules/fragment/node.h"

namespace almanac::policy {

/// Returns what a job of `demand` requests, as a score sees it.
fragment::Request request_of(const cluster::Demand& demand);
/// Returns the same for a mix. GPU types have no names here; their bits distinguish them.
fragment::Pod pod_of(const cluster::Demand& demand);

/// Nodes that are not ready have no capacity. The pods of a node follow from what was taken between
/// two looks: GPUs that were taken whole in that time count as one pod's.
class NodeImages {
 public:
  /// Reads the nodes that have changed since the last call, or all nodes of another ledger.
  /// Cost: about 1 ns per node, and 50 ns per changed node.
  void look(const cluster::Ledger& ledger);

  std::size_t size() const { return images_.size(); }
  const fragment::NodeImage& operator[](std::size_t node) const { return images_[node]; }
  /// Returns the number of the look(), from 1, that last saw a change of a node.
  std::uint64_t changed_at(std::size_t node) const { return changed_at_[node]; }
  std::uint64_t looks() const { return looks_; }

 private:
  void see(const cluster::Ledger& ledger, std::size_t node);

  std::uint64_t ledger_ = 0;  // Ledger::identity()
  std::uint64_t looks_ = 0;
  std::vector<fragment::NodeImage> images_;
  std::vector<std::uint32_t> changes_;  // Ledger::changes() of each at the last look
  std::vector<std::uint64_t> changed_at_;
  /// What holds each GPU of each node: kPart for a part, n for a pod of n whole GPUs.
  std::vector<std::vector<std::int8_t>> holders_;
};

}  // namespace almanac::policy
