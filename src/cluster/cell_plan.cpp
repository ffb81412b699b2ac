// SPDX-License-Identifier: Apache-2.0
#include "cluster/cell_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace almanac::cluster {
namespace {

bool are_alike(const NodeClass& one, const NodeClass& other) {
  return one.gpus == other.gpus && one.gpu_type == other.gpu_type && one.cpus == other.cpus &&
         one.memory_gb == other.memory_gb && one.sockets == other.sockets;
}

/// Nodes of a virtual cluster with GPUs, those that are alike together.
std::vector<std::vector<NodeId>> kinds_of(const Cluster& cluster, VcId vc) {
  std::vector<std::vector<NodeId>> kinds;
  const VirtualCluster& here = cluster.vcs[index(vc)];
  const auto make = [&](NodeId node) -> const NodeClass& {
    return cluster.classes[cluster.nodes[index(node)].node_class];
  };
  for (std::uint32_t at = 0; at < here.num_nodes; ++at) {
    const NodeId node{static_cast<std::uint32_t>(index(here.first)) + at};
    if (make(node).gpus == 0) continue;
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) {
      return are_alike(make(each.front()), make(node));
    });
    if (known == kinds.end()) {
      kinds.push_back({node});
    } else {
      known->push_back(node);
    }
  }
  return kinds;
}

/// Groups the nodes by rack. Racks with equally many nodes form a list, the largest racks first.
std::vector<std::vector<std::vector<NodeId>>> by_racks(const Cluster& cluster,
                                                       const std::vector<NodeId>& nodes) {
  std::vector<std::vector<NodeId>> racks;
  std::map<std::string, std::size_t> known;
  for (const NodeId node : nodes) {
    const std::string& rack = cluster.nodes[index(node)].rack;
    const auto [at, is_new] = known.try_emplace(rack, racks.size());
    if (is_new || rack.empty()) {
      racks.push_back({node});
    } else {
      racks[at->second].push_back(node);
    }
  }
  std::map<std::size_t, std::vector<std::vector<NodeId>>, std::greater<>> by_size;
  for (std::vector<NodeId>& rack : racks) by_size[rack.size()].push_back(std::move(rack));
  std::vector<std::vector<std::vector<NodeId>>> made;
  for (auto& [size, each] : by_size) made.push_back(std::move(each));
  return made;
}

std::string described(const OwnedCells& cells) {
  return cells.gpu_type.empty() ? cells.kind : fmt::format("{} of {}", cells.kind, cells.gpu_type);
}

}  // namespace

std::string pinned_name(const OwnedCells& cells) {
  return fmt::format("{} {}", cells.kind, cells.pinned);
}

const CellLevel* CellChain::find(std::string_view kind) const {
  if (kind == "rack") return node == 0 ? nullptr : &levels.front();
  if (kind == "node") return &levels[node];
  if (kind == "socket") return has_sockets ? &levels[node + 1] : nullptr;
  return &levels.back();
}

std::string CellPlan::name_of(NodeId node) { return fmt::format("{}", index(node)); }

CellPlan::CellPlan(const Cluster& cluster, VcId vc) {
  for (const std::vector<NodeId>& kind : kinds_of(cluster, vc)) {
    for (const auto& tops : by_racks(cluster, kind)) add_chain(cluster, tops);
  }
}

void CellPlan::add_chain(const Cluster& cluster, const std::vector<std::vector<NodeId>>& tops) {
  const Node& first = cluster.nodes[index(tops.front().front())];
  const NodeClass& make = cluster.classes[first.node_class];
  CellChain made{.gpu_type = make.gpu_type};
  const auto add_level = [&](int gpus) {
    made.levels.push_back({fmt::format("kind{}:{}", chains_.size(), gpus), gpus});
  };
  const int per_rack = static_cast<int>(tops.front().size());
  made.gpus = make.gpus * per_rack * static_cast<int>(tops.size());
  if (per_rack > 1) add_level(make.gpus * per_rack);
  made.node = made.levels.size();
  int gpus = make.gpus;
  add_level(gpus);
  if (make.sockets > 1 && gpus % make.sockets == 0 && gpus > make.sockets) {
    add_level(gpus /= make.sockets);
    made.has_sockets = true;
  }
  while (gpus % 2 == 0 && gpus > 2) add_level(gpus /= 2);
  // A node of one GPU is a cell of one.
  if (gpus > 1 || made.levels.size() == made.node + 1) {
    made.levels.push_back({fmt::format("gpu{}", chains_.size()), 1});
  }
  for (std::size_t at = 0; at + 1 < made.levels.size(); ++at) {
    const CellLevel& within = made.levels[at + 1];
    layout_.types.push_back({.name = made.levels[at].type,
                             .child = within.type,
                             .children = made.levels[at].gpus / within.gpus,
                             .node = at == made.node});
  }
  for (const std::vector<NodeId>& top : tops) {
    const std::size_t number = layout_.places.size();
    if (per_rack > 1) {
      const std::string& rack = cluster.nodes[index(top.front())].rack;
      spots_.push_back({.kind = "rack", .name = rack, .place = number});
      layout_.places.push_back({.type = made.top()});
    }
    for (const NodeId node : top) {
      cells::Place place = place_of(made, made.node, node, 0);
      std::size_t within = 0;
      if (per_rack > 1) {
        within = layout_.places[number].within.size();
        layout_.places[number].within.push_back(std::move(place));
      } else {
        layout_.places.push_back(std::move(place));
      }
      spots_.push_back({"node", cluster.node_label(node), number, within});
      nodes_.push_back(node);
    }
  }
  chains_.push_back(std::move(made));
}

cells::Place CellPlan::place_of(const CellChain& chain, std::size_t level, NodeId node,
                                int first) const {
  cells::Place made{.type = chain.levels[level].type};
  if (level + 1 == chain.levels.size()) {
    made.node = name_of(node);
    made.leaf = first;
    return made;
  }
  const int end = first + chain.levels[level].gpus;
  for (int gpu = first; gpu < end; gpu += chain.levels[level + 1].gpus) {
    made.within.push_back(place_of(chain, level + 1, node, gpu));
  }
  return made;
}

cells::Place& CellPlan::at(const Spot& spot) {
  cells::Place& top = layout_.places[spot.place];
  const bool is_in_rack = spot.kind == "node" && top.node.empty() && !top.within.empty() &&
                          std::any_of(spots_.begin(), spots_.end(), [&](const Spot& each) {
                            return each.kind == "rack" && each.place == spot.place;
                          });
  return is_in_rack ? top.within[spot.within] : top;
}

bool CellPlan::add(cells::Share share) {
  layout_.shares.push_back(std::move(share));
  if (cells::build(layout_)) return true;
  layout_.shares.pop_back();
  return false;
}

Result<void> CellPlan::own(const std::string& owner, const OwnedCells& cells) {
  if (!cells.pinned.empty()) return pin(owner, cells);
  bool is_known = false;
  for (const CellChain& chain : chains_) {
    const CellLevel* const level = chain.find(cells.kind);
    if (level == nullptr || !is_one_of(chain.gpu_type, cells.gpu_type)) continue;
    is_known = true;
    if (!add({.vc = owner, .chain = chain.top(), .type = level->type, .cells = cells.cells})) {
      continue;
    }
    owned_gpus_ += level->gpus * cells.cells;
    return {};
  }
  const std::string what = described(cells);
  if (!is_known) {
    return fail(
        Code::invalid, fmt::format("no nodes have cells of kind {}", what), {},
        "kinds are rack (two or more identical nodes), node, socket (if nodes give sockets), gpu");
  }
  return fail(Code::invalid,
              fmt::format("{} more of kind {} are not left on identical nodes", cells.cells, what),
              {}, "own fewer, or cells of several kinds");
}

Result<void> CellPlan::pin(const std::string& owner, const OwnedCells& cells) {
  const auto spot = std::find_if(spots_.begin(), spots_.end(), [&](const Spot& each) {
    return each.kind == cells.kind && each.name == cells.pinned;
  });
  if (spot == spots_.end()) {
    return fail(Code::invalid, fmt::format("no {} is named \"{}\"", cells.kind, cells.pinned), {},
                "give a node by its name, or by its number in the virtual cluster; a rack by the "
                "name in the nodes' rack, if it has two or more identical nodes");
  }
  cells::Place& place = at(*spot);
  if (!place.pinned.empty()) {
    return fail(Code::invalid, fmt::format("{} {} is pinned twice", cells.kind, cells.pinned));
  }
  place.pinned = pinned_name(cells);
  const auto chain = std::find_if(chains_.begin(), chains_.end(), [&](const CellChain& each) {
    return std::any_of(each.levels.begin(), each.levels.end(),
                       [&](const CellLevel& level) { return level.type == place.type; });
  });
  if (!add({.vc = owner, .pinned = place.pinned, .chain = chain->top()})) {
    place.pinned.clear();
    return fail(Code::invalid, fmt::format("{} {} is already taken by other owned cells",
                                           cells.kind, cells.pinned));
  }
  owned_gpus_ += chain->find(cells.kind)->gpus;
  return {};
}

void CellPlan::own(const std::string& owner, const CellChain& chain, int gpus) {
  owned_gpus_ += gpus;
  for (const CellLevel& each : chain.levels) {
    layout_.shares.push_back(
        {.vc = owner, .chain = chain.top(), .type = each.type, .cells = gpus / each.gpus});
    gpus %= each.gpus;
  }
}

}  // namespace almanac::cluster
