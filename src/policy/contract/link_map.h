// SPDX-License-Identifier: Apache-2.0

/// \file
/// The links of a cluster over which a job sends.
///
/// A link is the uplink of a node or switch with a known bandwidth. The nodes of a job exchange
/// gradients in a ring, so the same amount goes over the link of each of its nodes, and of each
/// switch that has some but not all of them below it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"

namespace almanac::policy {

class LinkMap {
 public:
  explicit LinkMap(const cluster::Cluster& cluster);

  /// Returns the bandwidth of each link in Gb/s, by number.
  const std::vector<double>& gbps() const { return gbps_; }
  /// Returns the links over which a job with `grants` sends, by number; none if it is on one node.
  /// O(grants x levels of switches).
  std::vector<std::uint32_t> links(std::span<const cluster::Grant> grants) const;
  /// Whether a link is that of the node, or of a switch above it.
  bool is_above(std::uint32_t link, NodeId node) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<double> gbps_;
  std::vector<std::uint32_t> of_node_;             // kNone if its link is unknown
  std::vector<std::vector<std::uint32_t>> above_;  // by node: links of the switches above it
};

}  // namespace almanac::policy
