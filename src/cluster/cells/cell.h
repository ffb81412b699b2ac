// SPDX-License-Identifier: Apache-2.0

/// \file
/// A cell: leaves (GPUs) that lie together, and the tree that they are in.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3, and the program published with it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace almanac::cells {

constexpr int kFree = -2;
constexpr int kOpportunistic = -1;
constexpr int kLeastGuaranteed = 0;
constexpr int kMostGuaranteed = 1000;

struct Group;

/// What a physical leaf is to the groups at it.
enum class State {
  free,
  used,
  reserving,  ///< Used, and taken already by a group that waits for its victims to go.
  reserved,   ///< Not used, and taken by such a group.
};

/// Physical, or virtual: a place that a virtual cluster owns wherever it is bound at the moment.
struct Cell {
  int chain = 0;
  int level = 1;  ///< Leaves are at level 1.
  int leaves = 1;
  bool spans_node = false;  ///< A node, or more than one.
  Cell* parent = nullptr;
  std::vector<Cell*> children{};
  int priority = kFree;       ///< The highest among its leaves.
  std::map<int, int> used{};  ///< Leaves in use, by priority.
  Cell* bound = nullptr;      ///< Of a virtual cell the physical one, and the other way round.

  // Of a virtual cell.
  int vc = -1;
  Cell* root = nullptr;  ///< The whole of what the virtual cluster owns here; null if physical.

  // Of a physical cell.
  std::vector<int> nodes{};
  int index = -1;  ///< Of a leaf in its node.
  bool healthy = true;
  bool split = false;  ///< Its children are allocated one by one.
  bool pinned = false;
  State state = State::free;  ///< Of a leaf.
  Group* holder = nullptr;    ///< Of a leaf: runs there.
  Group* claimant = nullptr;  ///< Of a leaf: waits for it.
};

/// Cells by level; level 0 is empty.
using Levels = std::vector<std::vector<Cell*>>;

/// Leaves of each pod, the smallest pod first.
using Placement = std::vector<std::vector<Cell*>>;

/// Whether a node is in the set, by its number.
using Nodes = std::vector<bool>;

/// Also keeps the priorities of the cells above, each the highest of its children.
void set_priority(Cell& cell, int priority);

/// Adds `change` leaves in use at `priority`, to the cell and to those above.
void count_used(Cell& cell, int priority, int change);

/// Binds two leaves, and the cells above them as far as these are not bound.
void bind(Cell& physical, Cell& virtual_cell);

/// Unbinds a leaf, and the cells above of which no child is bound any more. A pinned cell stays
/// bound.
void unbind(Cell& physical);

/// The first that is bound to nothing; null if all are.
Cell* first_unbound(const std::vector<Cell*>& cells);

/// Removes the cell as the published program does: the last one takes its place. False if it is
/// not there.
bool remove(std::vector<Cell*>& cells, const Cell* cell);

}  // namespace almanac::cells
