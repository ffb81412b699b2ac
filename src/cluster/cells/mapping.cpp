// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/mapping.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace almanac::cells {
namespace {

/// A virtual cell that needs a physical one, with those within that do.
struct Unbound {
  const Cell* cell = nullptr;
  std::vector<Unbound*> within{};
};

/// What is to be bound for a placement, in the order of first use.
struct Paths {
  std::vector<Unbound*> owned{};                // whole cells of the virtual cluster
  std::vector<std::vector<Unbound*>> within{};  // cells with one bound cell above
  std::deque<Unbound> store{};
};

Paths find_paths(const Placement& placement, Bindings& bindings) {
  Paths paths;
  std::map<const Cell*, Unbound*> known;
  for (const std::vector<Cell*>& pod : placement) {
    for (const Cell* leaf : pod) {
      if (leaf->bound != nullptr) {
        bindings[leaf] = leaf->bound;
        continue;
      }
      Unbound* below = nullptr;
      for (const Cell* cell = leaf;; cell = cell->parent) {
        if (cell == nullptr) {
          paths.owned.push_back(below);
        } else if (cell->bound != nullptr) {
          const auto siblings = std::find_if(
              paths.within.begin(), paths.within.end(),
              [&](const std::vector<Unbound*>& some) { return some[0]->cell->parent == cell; });
          if (siblings == paths.within.end()) {
            paths.within.push_back({below});
          } else {
            siblings->push_back(below);
          }
        } else {
          const auto [found, fresh] = known.try_emplace(cell);
          if (fresh) found->second = &paths.store.emplace_back(Unbound{.cell = cell});
          if (below != nullptr) found->second->within.push_back(below);
          below = found->second;
          if (fresh) continue;
        }
        break;
      }
    }
  }
  return paths;
}

class Search {
 public:
  Search(Levels free, std::vector<int> owed, std::vector<int> children, const Nodes& suggested,
         Bindings& bindings)
      : free_(std::move(free)),
        owed_(std::move(owed)),
        children_(std::move(children)),
        suggested_(suggested),
        bindings_(bindings) {}

  bool allocate(Unbound* owned) {
    const int level = owned->cell->level;
    for (int from = level; from < static_cast<int>(free_.size()); ++from) {
      if (free_[from].empty()) continue;
      if (!split_down(owned, from)) return split_safely(owned);
      --owed_[level];
      return true;
    }
    return false;
  }

  /// Binds all cells to candidates, in the order of these; the ones chosen, cell by cell.
  std::optional<std::vector<Cell*>> map(const std::vector<Unbound*>& cells,
                                        const std::vector<Cell*>& candidates) {
    const std::vector<Cell*> usable = find_usable(candidates);
    if (usable.size() < cells.size()) return std::nullopt;
    // A cell continues with the candidate after the last one tried, also after a step back.
    std::vector<std::size_t> picked(cells.size(), 0);
    std::vector<bool> taken(usable.size(), false);
    for (std::size_t at = 0; at < cells.size();) {
      std::size_t& pick = picked[at];
      while (pick < usable.size() && (taken[pick] || !fits(cells[at], usable[pick]))) ++pick;
      if (pick < usable.size()) {
        taken[pick] = true;
        ++at;
        continue;
      }
      if (at == 0) return std::nullopt;
      taken[picked[--at]] = false;
      ++picked[at];
    }
    std::vector<Cell*> chosen;
    for (const std::size_t pick : picked) chosen.push_back(usable[pick]);
    return chosen;
  }

 private:
  bool fits(const Unbound* cell, Cell* candidate) {
    if (candidate->level > 1) return map(cell->within, candidate->children).has_value();
    bindings_[cell->cell] = candidate;
    return true;
  }

  /// Returns the cells to which a virtual cell can be bound, those with few opportunistic leaves
  /// first.
  std::vector<Cell*> find_usable(const std::vector<Cell*>& candidates) const {
    std::vector<Cell*> usable;
    for (Cell* cell : candidates) {
      const bool bad_node = cell->nodes.size() == 1 && !cell->healthy;
      if (cell->bound != nullptr || bad_node) continue;
      if (std::any_of(cell->nodes.begin(), cell->nodes.end(),
                      [&](int node) { return suggested_[node]; })) {
        usable.push_back(cell);
      }
    }
    const auto opportunistic = [](const Cell* cell) {
      const auto found = cell->used.find(kOpportunistic);
      return found == cell->used.end() ? 0 : found->second;
    };
    std::stable_sort(usable.begin(), usable.end(), [&](const Cell* one, const Cell* other) {
      return opportunistic(one) < opportunistic(other);
    });
    return usable;
  }

  bool take_from(Unbound* owned, int level) {
    const auto chosen = map({owned}, free_[level]);
    if (!chosen) return false;
    for (const Cell* cell : *chosen) remove(free_[level], cell);
    return true;
  }

  /// Buddy allocation from a level below which nothing is free down to that of the cell.
  bool split_down(Unbound* owned, int level) {
    if (level == owned->cell->level) return take_from(owned, level);
    for (Cell* cell : find_usable(free_[level])) {
      std::vector<Cell*>& below = free_[level - 1];
      below.insert(below.end(), cell->children.begin(), cell->children.end());
      if (split_down(owned, level - 1)) {
        remove(free_[level], cell);
        return true;
      }
      below.clear();
    }
    return false;
  }

  /// Splits more than is needed of higher cells, as many as are not owed to anyone as a whole.
  bool split_safely(Unbound* owned) {
    const int top = static_cast<int>(free_.size()) - 1;
    std::vector<int> spare(free_.size(), 0);
    for (int level = top; level >= 1; --level) {
      spare[level] = static_cast<int>(free_[level].size()) - owed_[level];
      if (level < top) spare[level] += spare[level + 1] * children_[level + 1];
    }
    const int wanted = owned->cell->level;
    for (int level = wanted + 1; level <= top; ++level) {
      const int splits = std::min(static_cast<int>(free_[level].size()), spare[level]);
      if (splits <= 0) continue;
      std::vector<Cell*> pieces;
      for (int i = 0; i < splits; ++i) {
        pieces.push_back(free_[level].front());
        remove(free_[level], pieces.back());
      }
      for (int at = level; at > wanted; --at) {
        std::vector<Cell*> smaller;
        for (const Cell* piece : pieces) {
          smaller.insert(smaller.end(), piece->children.begin(), piece->children.end());
        }
        pieces = std::move(smaller);
      }
      free_[wanted].insert(free_[wanted].begin(), pieces.begin(), pieces.end());
      if (take_from(owned, wanted)) return true;
    }
    return false;
  }

  Levels free_;
  std::vector<int> owed_;      // by level, to virtual clusters
  std::vector<int> children_;  // of a cell, by level
  const Nodes& suggested_;
  Bindings& bindings_;
};

}  // namespace

bool map_to_physical(const Placement& placement, const Pool* pool, const Nodes& suggested,
                     Bindings& bindings) {
  const Paths paths = find_paths(placement, bindings);
  Search search(pool ? pool->free() : Levels(), pool ? pool->owed() : std::vector<int>(),
                pool ? pool->chain().children : std::vector<int>(), suggested, bindings);
  for (Unbound* owned : paths.owned) {
    if (!search.allocate(owned)) return false;
  }
  for (const std::vector<Unbound*>& within : paths.within) {
    if (!search.map(within, within[0]->cell->parent->bound->children)) return false;
  }
  return true;
}

}  // namespace almanac::cells
