// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes of a virtual cluster as cells, and the tenant that owns each cell.
///
/// Nodes of one kind form a chain: racks (if several of these nodes share a switch, the same number
/// behind each), nodes, sockets, halves of sockets, GPUs. Nodes in racks of another size form
/// another chain.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3: chains, cells, pinned cells.
/// Differs  Chains are derived from the nodes, not configured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/cells/layout.h"
#include "cluster/cluster.h"

namespace almanac::cluster {

/// Cells of one size.
struct CellLevel {
  std::string type{};  ///< Name in cells::Layout.
  int gpus = 0;
};

/// Returns the name of a pinned cell in cells::Layout.
std::string pinned_name(const OwnedCells& cells);

struct CellChain {
  std::vector<CellLevel> levels{};  ///< From the top down to the GPU.
  std::size_t node = 0;             ///< Position of the level that is a node.
  std::string gpu_type{};
  bool has_sockets = false;
  int gpus = 0;  ///< In the whole chain.

  const std::string& top() const { return levels.front().type; }
  const std::string& gpu() const { return levels.back().type; }
  int gpus_per_node() const { return levels[node].gpus; }
  /// Returns the level called "rack", "node", "socket" or "gpu"; null if the chain has no such
  /// cells.
  const CellLevel* find(std::string_view kind) const;
};

class CellPlan {
 public:
  /// Starts with no cell owned. Does not keep `cluster`.
  CellPlan(const Cluster& cluster, VcId vc);

  /// Gives `owner` these cells, from the first chain with enough cells left. Fails if no chain has
  /// enough, or if the pinned cell does not exist or has an owner.
  Result<void> own(const std::string& owner, const OwnedCells& cells);
  /// Gives `owner` this number of GPUs of a chain, in the largest cells that fit.
  void own(const std::string& owner, const CellChain& chain, int gpus);

  const std::vector<CellChain>& chains() const { return chains_; }
  /// Nodes by their number in cells::Cluster. `layout()` names a node by its NodeId.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  const cells::Layout& layout() const { return layout_; }
  static std::string name_of(NodeId node);
  /// GPUs in all owned cells.
  int owned_gpus() const { return owned_gpus_; }

 private:
  /// A node or rack that may be pinned.
  struct Spot {
    std::string kind{};
    std::string name{};
    std::size_t place = 0;   // position in layout_.places
    std::size_t within = 0;  // position of a node in its rack
  };

  void add_chain(const Cluster& cluster, const std::vector<std::vector<NodeId>>& tops);
  cells::Place place_of(const CellChain& chain, std::size_t level, NodeId node, int first) const;
  Result<void> pin(const std::string& owner, const OwnedCells& cells);
  cells::Place& at(const Spot& spot);
  /// Adds the share if enough cells are left for it; otherwise changes nothing and returns false.
  bool add(cells::Share share);

  std::vector<CellChain> chains_;
  std::vector<NodeId> nodes_;
  std::vector<Spot> spots_;
  cells::Layout layout_;
  int owned_gpus_ = 0;
};

}  // namespace almanac::cluster
