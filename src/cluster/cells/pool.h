// SPDX-License-Identifier: Apache-2.0

/// \file
/// The free cells of a chain, and the number of cells of each level that belong to virtual
/// clusters.
///
/// Bad cells count as free. If a virtual cluster owns more free cells than there are healthy ones,
/// some of its virtual cells are bound to bad cells at once ("doomed to be bad"), so that it does
/// not rely on them.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3.3 (buddy allocation), and the program published
///          with it.
/// Differs  The published program stops if a cell is missing from a list, or if no virtual cell is
///          left to doom (only after nodes went bad); ours continues. It visits virtual clusters in
///          no fixed order; ours in that of the layout.
#pragma once

#include <vector>

#include "cluster/cells/cell.h"
#include "cluster/cells/layout.h"

namespace almanac::cells {

class Pool {
 public:
  /// Creates the pool of all cells of chain `chain`, healthy and free.
  Pool(const Cluster& cluster, int chain);

  /// Allocates a physical cell that `vc` owns, and splits the cells above it. Returns false if
  /// others could then no longer get all the cells that they own.
  bool take(Cell& cell, int vc);
  /// Frees the cell, and merges it with free siblings.
  void give(Cell& cell, int vc);

  /// Marks a leaf and all cells above it as bad, or as possibly healthy again.
  void set_bad(Cell& cell);
  void set_healthy(Cell& cell);

  /// Whether the cell is free, or inside a free cell.
  bool is_free(const Cell& cell) const;

  /// Whether `vc` has the cell only because it is doomed to be bad.
  bool doomed(const Cell& cell, int vc) const;

  const Chain& chain() const { return *chain_; }
  /// In the order in which they are tried.
  const Levels& free() const { return free_; }
  /// By level: unbound cells of all virtual clusters.
  const std::vector<int>& owed() const { return owed_; }

 private:
  bool take(Cell& cell, int vc, bool doomed);
  void give(Cell& cell, int vc, bool doomed);
  int split_above(Cell& cell);
  int merge_above(Cell& cell);
  int healthy_left(int level) const;
  void doom(int level);
  void redeem(int level);
  void take_bad(Cell& cell);
  void give_bad(Cell& cell);

  struct Owner {
    bool here = false;        // owns cells of this chain
    std::vector<int> free{};  // by level, cells that are bound to none
    Levels roots{};           // virtual cells, not the pinned ones
    Levels doomed{};          // physical cells
  };

  const Chain* chain_;
  Levels free_;
  Levels bad_;  // bad cells that are free, or in one that is
  std::vector<int> owed_;
  std::vector<int> left_;      // by level, cells that are free or in one that is
  std::vector<Owner> owners_;  // by virtual cluster
};

}  // namespace almanac::cells
