// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which leaves the pods of a gang get: nodes in the order of packing, and in each the leaves that
/// lie together best.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it. Its order of nodes is
/// kept from call to call, so earlier requests decide between equals; among nodes that must not be
/// used, each sort turns equals round. Both are kept.
#pragma once

#include <optional>
#include <vector>

#include "cluster/cells/cell.h"
#include "cluster/cells/layout.h"

namespace almanac::cells {

/// The nodes of a tree of cells, and cells below that belong to no node of it.
class View {
 public:
  /// `across`: packs jobs of all priorities together, as is done among virtual cells, where one of
  /// higher priority need not preempt; else those of one priority, away from higher ones.
  View(const Levels& cells, const Chain& chain, bool across);

  /// Places all pods, told by their leaves in ascending order, or none. Leaves of lower priority
  /// count as free, but only if the pods do not fit beside them. Nodes that are bad or not
  /// suggested are not used. Takes no leaf. Costs a sort of the nodes that is linear where little
  /// has changed, and a search in each node used.
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
