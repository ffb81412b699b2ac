// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes of a ledger as the scores of `fragment` see them, kept up with the ledger.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ledger.h"
#include "rules/fragment/mix.h"
#include "rules/fragment/node.h"

namespace almanac::policy {

/// What a job of `demand` asks, as a score sees it.
fragment::Request request_of(const cluster::Demand& demand);
/// The same for a mix. GPU types have no names here: their bits tell them apart.
fragment::Pod pod_of(const cluster::Demand& demand);

/// Nodes that are not ready have nothing. What pods a node holds is told by what became taken
/// between two looks: GPUs that were taken whole in that time count as one pod's.
class NodeImages {
 public:
  /// Looks at the nodes that have changed since the last call, or at all of another ledger.
  /// Cost: about 1 ns a node, and 50 ns for each that changed.
  void look(const cluster::Ledger& ledger);

  std::size_t size() const { return images_.size(); }
  const fragment::NodeImage& operator[](std::size_t node) const { return images_[node]; }
  /// At which look() a node was last seen to have changed; looks are counted from 1.
  std::uint64_t changed_at(std::size_t node) const { return changed_at_[node]; }
  std::uint64_t looks() const { return looks_; }

 private:
  void see(const cluster::Ledger& ledger, std::size_t node);

  std::uint64_t ledger_ = 0;  // Ledger::identity()
  std::uint64_t looks_ = 0;
  std::vector<fragment::NodeImage> images_;
  std::vector<std::uint32_t> changes_;  // Ledger::changes() of each at the last look
  std::vector<std::uint64_t> changed_at_;
  /// Of each GPU of each node: what holds it. A part's is kPart, a pod's of n whole GPUs n.
  std::vector<std::vector<std::int8_t>> holders_;
};

}  // namespace almanac::policy
