// SPDX-License-Identifier: Apache-2.0

/// \file
/// Over which links of a cluster a job sends.
///
/// A link is the uplink of a node or of a switch of which the cluster says how fast it is. The
/// nodes of a job exchange their gradients in a ring, so as much goes over the link of each of its
/// nodes, and of each switch that has some of them below it and not all.
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

  /// Gb/s of each link, by its number.
  const std::vector<double>& gbps() const { return gbps_; }
  /// The links over which a job sends that holds `grants`, in order of number; none if these are
  /// one node. O(grants x levels of switches).
  std::vector<std::uint32_t> links(std::span<const cluster::Grant> grants) const;
  /// Whether a link is that of a node, or of a switch above it.
  bool is_above(std::uint32_t link, NodeId node) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<double> gbps_;
  std::vector<std::uint32_t> of_node_;             // kNone = its link is not told
  std::vector<std::vector<std::uint32_t>> above_;  // of each node: links of switches above it
};

}  // namespace almanac::policy
