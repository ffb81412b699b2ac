// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes of a virtual cluster as cells, and which tenant owns which of them.
///
/// Nodes that are alike are a chain: racks, where several of these nodes are behind one switch and
/// as many behind each; nodes; sockets; halves of these; GPUs. Nodes in racks of another size are
/// another chain.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3: chains, cells, pinned cells.
/// Differs  Chains follow from the nodes, instead of being written down.
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
  std::string type{};  ///< In cells::Layout.
  int gpus = 0;
};

/// What cells::Layout calls a pinned cell.
std::string pinned_name(const OwnedCells& cells);

struct CellChain {
  std::vector<CellLevel> levels{};  ///< From the top down to the GPU.
  std::size_t node = 0;             ///< Position of the level that is a node.
  std::string gpu_type{};
  bool has_sockets = false;
  int gpus = 0;  ///< In all.

  const std::string& top() const { return levels.front().type; }
  const std::string& gpu() const { return levels.back().type; }
  int gpus_per_node() const { return levels[node].gpus; }
  /// "rack", "node", "socket", "gpu"; null = it has no such cells.
  const CellLevel* find(std::string_view kind) const;
};

class CellPlan {
 public:
  /// No cell is owned. `cluster` is not kept.
  CellPlan(const Cluster& cluster, VcId vc);

  /// Lets `owner` own these too, of the first chain that has so many left. Fails where none has, or
  /// where the pinned one is not there or has an owner.
  Result<void> own(const std::string& owner, const OwnedCells& cells);
  /// Lets it own so many GPUs of a chain, in cells as large as these make.
  void own(const std::string& owner, const CellChain& chain, int gpus);

  const std::vector<CellChain>& chains() const { return chains_; }
  /// Nodes by number of cells::Cluster. In `layout()` a node is called by its NodeId.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  const cells::Layout& layout() const { return layout_; }
  static std::string name_of(NodeId node);
  /// GPUs of all cells that are owned.
  int owned_gpus() const { return owned_gpus_; }

 private:
  /// A node or rack, which may be pinned.
  struct Spot {
    std::string kind{};
    std::string name{};
    std::size_t place = 0;   // position in layout_.places
    std::size_t within = 0;  // of a node in a rack: its position there
  };

  void add_chain(const Cluster& cluster, const std::vector<std::vector<NodeId>>& tops);
  cells::Place place_of(const CellChain& chain, std::size_t level, NodeId node, int first) const;
  Result<void> pin(const std::string& owner, const OwnedCells& cells);
  cells::Place& at(const Spot& spot);
  /// Whether as many are left when this is owned too; it is taken back if not.
  bool add(cells::Share share);

  std::vector<CellChain> chains_;
  std::vector<NodeId> nodes_;
  std::vector<Spot> spots_;
  cells::Layout layout_;
  int owned_gpus_ = 0;
};

}  // namespace almanac::cluster
