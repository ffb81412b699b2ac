// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/layout.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace almanac::cells {
namespace {

template <typename Named>
int find(const std::vector<Named>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

class Builder {
 public:
  explicit Builder(const Layout& layout) : layout_(layout) {}

  Result<Cluster> build() {
    for (const Place& place : layout_.places) {
      const int chain = find_chain(place.type);
      if (chain < 0) return fail(Code::invalid, std::move(wrong_));
      if (add(place, chain, cluster_.chains[chain].top()) == nullptr) {
        return fail(Code::invalid, std::move(wrong_));
      }
    }
    for (const Share& share : layout_.shares) {
      if (!owe(share)) return fail(Code::invalid, std::move(wrong_));
    }
    if (!suffices()) return fail(Code::invalid, std::move(wrong_));
    for (const Share& share : layout_.shares) own(share);
    return std::move(cluster_);
  }

 private:
  bool refuse(std::string why) {
    wrong_ = std::move(why);
    return false;
  }

  /// The chain of a top cell; made when its first cell comes.
  int find_chain(const std::string& top) {
    if (const int known = find(cluster_.chains, top); known >= 0) return known;
    Chain chain{.name = top};
    int nodes = 0;
    std::vector<const Type*> types;
    std::string name = top;
    for (int type = find(layout_.types, name); type >= 0; type = find(layout_.types, name)) {
      types.push_back(&layout_.types[type]);
      if (types.size() > layout_.types.size()) return refuse_chain("type {} is in itself", name);
      if (types.back()->children < 1) return refuse_chain("type {} has no cells within", name);
      nodes += types.back()->node ? 1 : 0;
      name = types.back()->child;
    }
    if (nodes != 1) return refuse_chain("chain {} must have exactly one type that is a node", top);
    chain.types = {"", name};
    chain.leaves = {0, 1};
    chain.children = {0, 0};
    std::vector<bool> spans{false, false};
    for (auto type = types.rbegin(); type != types.rend(); ++type) {
      chain.types.push_back((*type)->name);
      chain.children.push_back((*type)->children);
      if ((*type)->children > kMostLeaves / chain.leaves.back()) {
        return refuse_chain("chain {} has more leaves than 1,000,000", top);
      }
      chain.leaves.push_back((*type)->children * chain.leaves.back());
      spans.push_back(spans.back() || (*type)->node);
    }
    chain.cells.resize(chain.types.size());
    spans_.push_back(std::move(spans));
    owed_.emplace_back(chain.types.size(), 0);
    cluster_.chains.push_back(std::move(chain));
    return static_cast<int>(cluster_.chains.size()) - 1;
  }

  int refuse_chain(const char* why, const std::string& name) {
    refuse(fmt::format(fmt::runtime(why), name));
    return -1;
  }

  Cell* make(int chain, int level) {
    Cell& cell = cluster_.cells.emplace_back();
    cell.chain = chain;
    cell.level = level;
    cell.leaves = cluster_.chains[chain].leaves[level];
    cell.spans_node = spans_[chain][level];
    return &cell;
  }

  Cell* add(const Place& place, int chain, int level) {
    const Chain& of = cluster_.chains[chain];
    if (place.type != of.types[level]) {
      refuse(fmt::format("chain {} has {} at level {}, not {}", of.name, of.types[level], level,
                         place.type));
      return nullptr;
    }
    if (static_cast<int>(place.within.size()) != of.children[level]) {
      refuse(fmt::format("a cell of type {} must have {} within, not {}", place.type,
                         of.children[level], place.within.size()));
      return nullptr;
    }
    Cell* const cell = make(chain, level);
    cluster_.chains[chain].cells[level].push_back(cell);
    if (level == 1 && !name_leaf(place, *cell)) return nullptr;
    for (const Place& within : place.within) {
      Cell* const child = add(within, chain, level - 1);
      if (child == nullptr) return nullptr;
      child->parent = cell;
      cell->children.push_back(child);
      for (const int node : child->nodes) {
        if (cell->nodes.empty() || cell->nodes.back() != node) cell->nodes.push_back(node);
      }
    }
    const bool within_node = level == 1 || !spans_[chain][level - 1];
    if (within_node && cell->nodes.size() != 1) {
      refuse(fmt::format("a cell of type {} must be of one node", place.type));
      return nullptr;
    }
    if (!place.pinned.empty()) {
      cell->pinned = true;
      if (!pinned_.emplace(place.pinned, cell).second) {
        refuse(fmt::format("two cells are pinned as {}", place.pinned));
        return nullptr;
      }
    }
    return cell;
  }

  bool name_leaf(const Place& place, Cell& cell) {
    if (place.node.empty() || place.leaf < 0) {
      return refuse("a leaf must have a node and a number in it");
    }
    const auto [node, fresh] =
        numbers_.try_emplace(place.node, static_cast<int>(cluster_.nodes.size()));
    if (fresh) cluster_.nodes.push_back(place.node);
    cell.nodes = {node->second};
    cell.index = place.leaf;
    if (!leaves_.emplace(cell.chain, node->second, cell.index).second) {
      return refuse(fmt::format("leaf {} of node {} is there twice", place.leaf, place.node));
    }
    return true;
  }

  /// Counts what the share needs, chain by chain.
  bool owe(const Share& share) {
    if (!share.pinned.empty()) {
      const auto pinned = pinned_.find(share.pinned);
      if (pinned == pinned_.end()) {
        return refuse(fmt::format("no physical cell is pinned as {}", share.pinned));
      }
      if (!owned_.insert(share.pinned).second) {
        return refuse(fmt::format("pinned cell {} has two owners", share.pinned));
      }
      ++owed_[pinned->second->chain][pinned->second->level];
      return true;
    }
    const int chain = find(cluster_.chains, share.chain);
    if (chain < 0) return refuse(fmt::format("no physical cell is of chain {}", share.chain));
    const int level = level_of(chain, share.type);
    if (level == 0) return refuse(fmt::format("chain {} has no type {}", share.chain, share.type));
    if (share.cells < 0) return refuse("a virtual cluster cannot own fewer than 0 cells");
    owed_[chain][level] += share.cells;
    return true;
  }

  int level_of(int chain, const std::string& type) const {
    const std::vector<std::string>& types = cluster_.chains[chain].types;
    const auto found = std::find(types.begin() + 1, types.end(), type);
    return found == types.end() ? 0 : static_cast<int>(found - types.begin());
  }

  bool suffices() {
    for (std::size_t i = 0; i < cluster_.chains.size(); ++i) {
      const Chain& chain = cluster_.chains[i];
      auto left = static_cast<std::int64_t>(chain.cells[chain.top()].size());
      for (int level = chain.top(); level >= 1; --level) {
        if (owed_[i][level] > left) {
          return refuse(
              fmt::format("not enough physical cells: virtual clusters own {} of type {} in chain "
                          "{}, and {} are left",
                          owed_[i][level], chain.types[level], chain.name, left));
        }
        left = (left - owed_[i][level]) * chain.children[level];
      }
    }
    return true;
  }

  void own(const Share& share) {
    int vc = find(cluster_.vcs, share.vc);
    if (vc < 0) {
      vc = static_cast<int>(cluster_.vcs.size());
      cluster_.vcs.push_back({.name = share.vc});
    }
    VirtualCluster& owner = cluster_.vcs[vc];
    if (!share.pinned.empty()) {
      Cell* const pinned = pinned_.at(share.pinned);
      owner.pinned_to[share.pinned] = pinned;
      Levels& cells = owner.pinned[share.pinned];
      cells.resize(pinned->level + 1);
      grow(pinned->chain, pinned->level, vc, nullptr, nullptr, cells);
      return;
    }
    const int chain = find(cluster_.chains, share.chain);
    const int level = level_of(chain, share.type);
    for (Levels* levels : {&owner.cells[chain], &owner.roots[chain]}) {
      levels->resize(cluster_.chains[chain].types.size());
    }
    for (int i = 0; i < share.cells; ++i) {
      owner.roots[chain][level].push_back(
          grow(chain, level, vc, nullptr, nullptr, owner.cells[chain]));
    }
  }

  /// A virtual cell with all within.
  Cell* grow(int chain, int level, int vc, Cell* root, Cell* parent, Levels& into) {
    Cell* const cell = make(chain, level);
    cell->vc = vc;
    cell->root = root == nullptr ? cell : root;
    cell->parent = parent;
    into[level].push_back(cell);
    for (int i = 0; i < cluster_.chains[chain].children[level]; ++i) {
      cell->children.push_back(grow(chain, level - 1, vc, cell->root, cell, into));
    }
    return cell;
  }

  static constexpr int kMostLeaves = 1'000'000;

  const Layout& layout_;
  Cluster cluster_;
  std::string wrong_;
  std::vector<std::vector<bool>> spans_;         // by chain and level: a node or more
  std::vector<std::vector<std::int64_t>> owed_;  // by chain and level
  std::map<std::string, Cell*> pinned_;
  std::set<std::string> owned_;
  std::map<std::string, int> numbers_;  // of nodes
  std::set<std::tuple<int, int, int>> leaves_;
};

}  // namespace

int Cluster::find_node(const std::string& name) const {
  const auto found = std::find(nodes.begin(), nodes.end(), name);
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

int Cluster::find_vc(const std::string& name) const { return find(vcs, name); }

Result<Cluster> build(const Layout& layout) { return Builder(layout).build(); }

}  // namespace almanac::cells
