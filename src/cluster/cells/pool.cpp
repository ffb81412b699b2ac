// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/pool.h"

#include <algorithm>

namespace almanac::cells {
namespace {

bool holds(const std::vector<Cell*>& cells, const Cell* cell) {
  return std::find(cells.begin(), cells.end(), cell) != cells.end();
}

/// Binds these two alone, whatever is below and above. Does nothing where one is missing.
void pair(Cell& physical, Cell* virtual_cell) {
  if (virtual_cell == nullptr) return;
  physical.bound = virtual_cell;
  virtual_cell->bound = &physical;
}

void part(Cell& physical) {
  physical.bound->bound = nullptr;
  physical.bound = nullptr;
}

/// A virtual cell for a physical one within another that is bound.
Cell* unbound_within(const Cell& physical) {
  const Cell* const above = physical.parent ? physical.parent->bound : nullptr;
  return above == nullptr ? nullptr : first_unbound(above->children);
}

}  // namespace

Pool::Pool(const Cluster& cluster, int chain)
    : chain_(&cluster.chains[chain]),
      free_(chain_->types.size()),
      bad_(chain_->types.size()),
      owed_(chain_->types.size(), 0),
      left_(chain_->types.size(), 0),
      owners_(cluster.vcs.size()) {
  const int top = chain_->top();
  free_[top] = chain_->cells[top];
  for (int level = 1; level <= top; ++level) {
    left_[level] = static_cast<int>(chain_->cells[level].size());
  }
  for (std::size_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    const VirtualCluster& from = cluster.vcs[vc];
    Owner& owner = owners_[vc];
    owner.free.resize(chain_->types.size(), 0);
    owner.doomed.resize(chain_->types.size());
    owner.roots.resize(chain_->types.size());
    if (const auto roots = from.roots.find(chain); roots != from.roots.end()) {
      owner.here = true;
      owner.roots = roots->second;
    }
    for (int level = 1; level <= top; ++level) {
      owner.free[level] = static_cast<int>(owner.roots[level].size());
    }
    for (const auto& [_, physical] : from.pinned_to) {
      if (physical->chain != chain) continue;
      owner.here = true;
      ++owner.free[physical->level];
    }
    for (int level = 1; level <= top; ++level) owed_[level] += owner.free[level];
  }
}

bool Pool::take(Cell& cell, int vc) { return take(cell, vc, false); }

void Pool::give(Cell& cell, int vc) { give(cell, vc, false); }

bool Pool::take(Cell& cell, int vc, bool doomed) {
  const int level = cell.level;
  bool safe = true;
  --owners_[vc].free[level];
  --owed_[level];
  --left_[level];
  const int split = split_above(cell);
  Cell* above = cell.parent;
  for (int at = level + 1; at <= split; ++at, above = above->parent) {
    safe &= --left_[at] >= owed_[at];
    if (!above->healthy) {
      remove(bad_[at], above);
    } else {
      doom(at);
    }
  }
  if (cell.healthy) {
    doom(level);
  } else {
    take_bad(cell);
    if (!doomed) redeem(level);
  }
  int within = chain_->children[level];
  for (int at = level - 1; at >= 1; --at) {
    left_[at] -= within;
    safe &= left_[at] >= owed_[at];
    if (!doomed) doom(at);
    within *= chain_->children[at];
  }
  return safe;
}

void Pool::give(Cell& cell, int vc, bool doomed) {
  const int level = cell.level;
  ++owners_[vc].free[level];
  ++owed_[level];
  ++left_[level];
  const int merged = merge_above(cell);
  Cell* above = cell.parent;
  for (int at = level + 1; at <= merged; ++at, above = above->parent) {
    ++left_[at];
    if (!above->healthy) {
      bad_[at].push_back(above);
    } else {
      redeem(at);
    }
  }
  if (cell.healthy) {
    redeem(level);
  } else {
    give_bad(cell);
    if (!doomed) doom(level);
  }
  int within = chain_->children[level];
  for (int at = level - 1; at >= 1; --at) {
    left_[at] += within;
    if (!doomed) redeem(at);
    within *= chain_->children[at];
  }
}

/// Takes the cell off the free ones; the highest level of which one is split for it.
int Pool::split_above(Cell& cell) {
  for (Cell* at = &cell;; at = at->parent) {
    std::vector<Cell*>& free = free_[at->level];
    Cell* const above = at->parent;
    const bool last = above == nullptr || above->split;
    if (!last) {
      free.insert(free.end(), above->children.begin(), above->children.end());
      above->split = true;
    }
    remove(free, at);
    if (last) return at->level;
  }
}

int Pool::merge_above(Cell& cell) {
  for (Cell* at = &cell;; at = at->parent) {
    std::vector<Cell*>& free = free_[at->level];
    Cell* const above = at->parent;
    const bool whole = above != nullptr &&
                       std::all_of(above->children.begin(), above->children.end(),
                                   [&](Cell* child) { return child == at || holds(free, child); });
    if (!whole) {
      free.push_back(at);
      return at->level;
    }
    for (const Cell* child : above->children) {
      if (child != at) remove(free, child);
    }
    above->split = false;
  }
}

bool Pool::is_free(const Cell& cell) const {
  for (const Cell* at = &cell;; at = at->parent) {
    if (at->bound != nullptr || at->split) return false;
    if (at->parent == nullptr || at->parent->split) return true;
  }
}

int Pool::healthy_left(int level) const {
  return left_[level] - static_cast<int>(bad_[level].size());
}

bool Pool::doomed(const Cell& cell, int vc) const {
  return holds(owners_[vc].doomed[cell.level], &cell);
}

void Pool::doom(int level) {
  for (std::size_t vc = 0; vc < owners_.size(); ++vc) {
    Owner& owner = owners_[vc];
    while (owner.here && owner.free[level] > healthy_left(level) && !bad_[level].empty()) {
      Cell* const root = first_unbound(owner.roots[level]);
      if (root == nullptr) break;
      Cell& cell = *bad_[level].front();
      pair(cell, root);
      owner.doomed[level].push_back(&cell);
      take(cell, static_cast<int>(vc), true);
    }
  }
}

void Pool::redeem(int level) {
  for (std::size_t vc = 0; vc < owners_.size(); ++vc) {
    Owner& owner = owners_[vc];
    while (!owner.doomed[level].empty() && owner.free[level] < healthy_left(level)) {
      Cell& cell = *owner.doomed[level].front();
      part(cell);
      remove(owner.doomed[level], &cell);
      give(cell, static_cast<int>(vc), true);
    }
  }
}

/// Binds bad cells within one that is bound, so that its owner sees them.
void Pool::take_bad(Cell& cell) {
  remove(bad_[cell.level], &cell);
  if (cell.bound == nullptr) pair(cell, unbound_within(cell));
  for (Cell* child : cell.children) {
    if (!child->healthy) take_bad(*child);
  }
}

void Pool::give_bad(Cell& cell) {
  bad_[cell.level].push_back(&cell);
  if (cell.bound != nullptr) part(cell);
  for (Cell* child : cell.children) {
    if (!child->healthy) give_bad(*child);
  }
}

void Pool::set_bad(Cell& cell) {
  if (!cell.healthy) return;
  cell.healthy = false;
  if (cell.parent != nullptr) set_bad(*cell.parent);
  if (is_free(cell)) {
    bad_[cell.level].push_back(&cell);
    if (owed_[cell.level] > healthy_left(cell.level)) doom(cell.level);
  } else if (cell.bound == nullptr && !cell.split) {
    pair(cell, unbound_within(cell));
  }
}

void Pool::set_healthy(Cell& cell) {
  if (cell.healthy) return;
  cell.healthy = true;
  if (is_free(cell)) {
    remove(bad_[cell.level], &cell);
    redeem(cell.level);
  } else if (Cell* const owned = cell.bound;
             owned != nullptr && !cell.pinned && cell.priority < kLeastGuaranteed) {
    // The cell was bound only because it was bad.
    part(cell);
    if (owned->parent == nullptr) {
      remove(owners_[owned->vc].doomed[cell.level], &cell);
      give(cell, owned->vc, true);
    }
  }
  if (cell.parent == nullptr) return;
  for (const Cell* sibling : cell.parent->children) {
    if (!sibling->healthy) return;
  }
  set_healthy(*cell.parent);
}

}  // namespace almanac::cells
