// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/view.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace almanac::cells {
namespace {

/// The lowest cell that both are in; `higher` is at the level of `leaf` or above, in its tree.
const Cell* common(const Cell* leaf, const Cell* higher) {
  while (leaf->level < higher->level) leaf = leaf->parent;
  while (leaf != higher) {
    leaf = leaf->parent;
    higher = higher->parent;
  }
  return leaf;
}

/// The first choice of leaves, by index, whose common cell is as low as can be.
class Together {
 public:
  Together(const std::vector<Cell*>& leaves, std::size_t count, int lowest)
      : leaves_(leaves), count_(count), lowest_(lowest) {}

  std::vector<std::size_t> best() {
    search(0, nullptr);
    return best_;
  }

 private:
  /// True once no better one can come.
  bool search(std::size_t from, const Cell* around) {
    for (std::size_t i = from; i + (count_ - chosen_.size()) <= leaves_.size(); ++i) {
      const Cell* const cell = around == nullptr ? leaves_[i] : common(leaves_[i], around);
      if (cell->level >= best_level_) continue;
      chosen_.push_back(i);
      if (chosen_.size() == count_) {
        best_ = chosen_;
        best_level_ = cell->level;
        if (best_level_ <= lowest_) return true;
      } else if (search(i + 1, cell)) {
        return true;
      }
      chosen_.pop_back();
    }
    return false;
  }

  const std::vector<Cell*>& leaves_;
  std::size_t count_;
  int lowest_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  int best_level_ = std::numeric_limits<int>::max();
};

void collect(Cell& cell, int priority, std::vector<Cell*>& free, std::vector<Cell*>& lower) {
  for (Cell* child : cell.children) collect(*child, priority, free, lower);
  if (cell.level > 1) return;
  if (cell.priority == kFree) {
    free.push_back(&cell);
  } else if (cell.priority < priority) {
    lower.push_back(&cell);
  }
}

}  // namespace

View::View(const Levels& cells, const Chain& chain, bool across) : chain_(&chain), across_(across) {
  for (auto level = cells.rbegin(); level != cells.rend(); ++level) {
    for (Cell* cell : *level) {
      const bool node = cell->spans_node && !cell->children.front()->spans_node;
      const bool below = !cell->spans_node && cell->parent == nullptr;
      if (node || below) stands_.push_back({.cell = cell});
    }
  }
}

bool View::Stand::before(const Stand& other) const {
  if (!other.healthy) return true;
  if (!healthy) return false;
  if (!other.suggested) return true;
  if (!suggested) return false;
  return same != other.same ? same > other.same : higher < other.higher;
}

void View::refresh(int priority, const Nodes& suggested) {
  for (Stand& stand : stands_) {
    stand.same = stand.higher = 0;
    stand.free = stand.cell->leaves;
    for (const auto& [at, leaves] : stand.cell->used) {
      if (across_ || at == priority) {
        stand.same += leaves;
      } else if (at > priority) {
        stand.higher += leaves;
      }
      if (at >= priority) stand.free -= leaves;
    }
    const Cell* const physical = stand.cell->root ? stand.cell->bound : stand.cell;
    stand.healthy = physical == nullptr || physical->healthy;
    stand.suggested = physical == nullptr || suggested[physical->nodes.front()];
  }
}

std::optional<std::vector<Cell*>> View::walk(const std::vector<int>& pods) {
  // Insertion, not std::stable_sort: the order is none of nodes that must not be used.
  for (std::size_t i = 1; i < stands_.size(); ++i) {
    for (std::size_t j = i; j > 0 && stands_[j].before(stands_[j - 1]); --j) {
      std::swap(stands_[j], stands_[j - 1]);
      has_turned_ = true;
    }
  }
  std::vector<Cell*> nodes;
  int picked = 0;
  for (const Stand& stand : stands_) {
    if (!stand.healthy || !stand.suggested) return std::nullopt;
    for (picked = 0; stand.free - picked >= pods[nodes.size()]; nodes.push_back(stand.cell)) {
      picked += pods[nodes.size()];
      if (nodes.size() + 1 == pods.size()) {
        nodes.push_back(stand.cell);
        return nodes;
      }
    }
  }
  return std::nullopt;
}

std::optional<Placement> View::place(const std::vector<int>& pods, int priority,
                                     const Nodes& suggested) {
  has_turned_ = false;
  int counts_as_free_below = kOpportunistic;
  refresh(counts_as_free_below, suggested);
  std::optional<std::vector<Cell*>> nodes = walk(pods);
  if (!nodes && priority > kOpportunistic) {
    counts_as_free_below = priority;
    refresh(counts_as_free_below, suggested);
    nodes = walk(pods);
  }
  if (!nodes) return std::nullopt;
  Placement placement;
  std::map<const Cell*, std::vector<Cell*>> left;
  for (std::size_t pod = 0; pod < pods.size(); ++pod) {
    Cell& node = *(*nodes)[pod];
    const auto [found, fresh] = left.try_emplace(&node);
    std::vector<Cell*>& leaves = found->second;
    if (fresh) {
      std::vector<Cell*> lower;
      collect(node, counts_as_free_below, leaves, lower);
      leaves.insert(leaves.end(), lower.begin(), lower.end());
    }
    int lowest = 1;
    while (chain_->leaves[lowest] < pods[pod]) ++lowest;
    const std::vector<std::size_t> best =
        Together(leaves, static_cast<std::size_t>(pods[pod]), lowest).best();
    std::vector<Cell*>& taken = placement.emplace_back();
    for (const std::size_t i : best) taken.push_back(leaves[i]);
    for (auto i = best.rbegin(); i != best.rend(); ++i) {
      leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(*i));
    }
  }
  return placement;
}

}  // namespace almanac::cells
