// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/cell.h"

#include <algorithm>

namespace almanac::cells {

void set_priority(Cell& cell, int priority) {
  Cell* at = &cell;
  while (true) {
    const int before = at->priority;
    at->priority = priority;
    at = at->parent;
    if (at == nullptr) return;
    if (priority <= at->priority) {
      if (before != at->priority || priority >= before) return;
      priority = kFree;
      for (const Cell* child : at->children) priority = std::max(priority, child->priority);
    }
  }
}

void count_used(Cell& cell, int priority, int change) {
  for (Cell* at = &cell; at != nullptr; at = at->parent) {
    const auto [found, _] = at->used.try_emplace(priority, 0);
    found->second += change;
    if (found->second == 0) at->used.erase(found);
  }
}

void bind(Cell& physical, Cell& virtual_cell) {
  Cell* below = &physical;
  for (Cell* above = &virtual_cell; above != nullptr && above->bound == nullptr;
       above = above->parent, below = below->parent) {
    above->bound = below;
    below->bound = above;
  }
}

void unbind(Cell& physical) {
  for (Cell* cell = physical.bound; cell != nullptr && !cell->bound->pinned; cell = cell->parent) {
    cell->bound->bound = nullptr;
    cell->bound = nullptr;
    if (cell->parent == nullptr) return;
    for (const Cell* child : cell->parent->children) {
      if (child->bound != nullptr) return;
    }
  }
}

Cell* first_unbound(const std::vector<Cell*>& cells) {
  const auto found =
      std::find_if(cells.begin(), cells.end(), [](const Cell* cell) { return !cell->bound; });
  return found == cells.end() ? nullptr : *found;
}

bool remove(std::vector<Cell*>& cells, const Cell* cell) {
  const auto found = std::find(cells.begin(), cells.end(), cell);
  if (found == cells.end()) return false;
  *found = cells.back();
  cells.pop_back();
  return true;
}

}  // namespace almanac::cells
