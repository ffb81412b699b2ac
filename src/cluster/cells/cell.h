// SPDX-License-Identifier: Apache-2.0

/// \file
/// A cell: a group of neighboring leaves (GPUs), and the tree that it belongs to.
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

/// State of a physical leaf, for the groups that use it.
enum class State {
  free,
  used,
  reserving,  ///< Used, and claimed by a group that waits for its victims to end.
  reserved,   ///< Not used, and claimed by such a group.
};

/// A physical cell, or a virtual one: a cell that a virtual cluster owns, wherever it is bound now.
struct Cell {
  int chain = 0;
  int level = 1;  ///< Leaves are at level 1.
  int leaves = 1;
  bool spans_node = false;  ///< A node, or more than one.
  Cell* parent = nullptr;
  std::vector<Cell*> children{};
  int priority = kFree;       ///< The highest among its leaves.
  std::map<int, int> used{};  ///< Leaves in use, by priority.
  Cell* bound = nullptr;      ///< The physical cell of a virtual one, and the other way round.

  // For virtual cells:
  int vc = -1;
  Cell* root = nullptr;  ///< The whole cell that the virtual cluster owns; null for a physical
                         ///< cell.

  // For physical cells:
  std::vector<int> nodes{};
  int index = -1;  ///< Of a leaf, in its node.
  bool healthy = true;
  bool split = false;  ///< Its children are allocated one by one.
  bool pinned = false;
  State state = State::free;  ///< Of a leaf.
  Group* holder = nullptr;    ///< Group that runs on the leaf.
  Group* claimant = nullptr;  ///< Group that waits for the leaf.
};

/// Cells by level; level 0 is empty.
using Levels = std::vector<std::vector<Cell*>>;

/// Leaves of each pod, the smallest pod first.
using Placement = std::vector<std::vector<Cell*>>;

/// Whether a node is in the set, by its number.
using Nodes = std::vector<bool>;

/// Sets the priority of a cell, and updates the cells above it to the highest of their children.
void set_priority(Cell& cell, int priority);

/// Adds `change` leaves in use at `priority`, to the cell and the cells above it.
void count_used(Cell& cell, int priority, int change);

/// Binds two leaves, and the cells above them that are not bound yet.
void bind(Cell& physical, Cell& virtual_cell);

/// Unbinds a leaf, and the cells above it that have no bound child left. A pinned cell stays bound.
void unbind(Cell& physical);

/// Returns the first unbound cell, or null.
Cell* first_unbound(const std::vector<Cell*>& cells);

/// Removes a cell as the published program does: the last one takes its place. Returns false if the
/// cell is not in the list.
bool remove(std::vector<Cell*>& cells, const Cell* cell);

}  // namespace almanac::cells
