// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the leaves for the pods of a gang: nodes in packing order, and in each node the leaves
/// that are best together.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it. Like that program, it
///          keeps its order of nodes from call to call, so earlier requests break ties; and each
///          sort reverses ties among nodes that must not be used.
#pragma once

#include <optional>
#include <vector>

#include "cluster/cells/cell.h"
#include "cluster/cells/layout.h"

namespace almanac::cells {

/// The nodes of a tree of cells, and cells below node level that belong to no node.
class View {
 public:
  /// `across`: packs jobs of all priorities together, as virtual cells need, because there a job of
  /// higher priority need not preempt. Otherwise packs jobs of one priority together, away from
  /// higher ones.
  View(const Levels& cells, const Chain& chain, bool across);

  /// Places all pods, given by their numbers of leaves in ascending order, or none. Leaves of lower
  /// priority count as free, but only if the pods do not fit without them. Skips nodes that are bad
  /// or not suggested. Takes no leaf. Cost: a sort of the nodes that is linear if little has
  /// changed, and a search in each node used.
  std::optional<Placement> place(const std::vector<int>& pods, int priority,
                                 const Nodes& suggested);
  /// Whether the last place() moved a node in the order.
  bool has_turned() const { return has_turned_; }

 private:
  struct Stand {
    Cell* cell = nullptr;
    bool healthy = true;
    bool suggested = true;
    int free = 0;
    int same = 0;    // leaves in use that attract
    int higher = 0;  // leaves in use that repel
    bool before(const Stand& other) const;
  };

  void refresh(int priority, const Nodes& suggested);
  std::optional<std::vector<Cell*>> walk(const std::vector<int>& pods);

  std::vector<Stand> stands_;
  const Chain* chain_;
  bool across_;
  bool has_turned_ = false;
};

}  // namespace almanac::cells
