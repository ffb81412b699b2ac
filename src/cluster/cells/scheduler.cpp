// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/scheduler.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/cells/mapping.h"

namespace almanac::cells {
namespace {

template <typename Work>
void each_leaf(const Placement& placement, const Work& work) {
  for (std::size_t pod = 0; pod < placement.size(); ++pod) {
    for (std::size_t leaf = 0; leaf < placement[pod].size(); ++leaf) {
      if (placement[pod][leaf] != nullptr) work(*placement[pod][leaf], pod, leaf);
    }
  }
}

/// Returns a suitable cell: a free one that is bound to none, otherwise the one of lowest priority
/// below `priority`; null if there is none.
Cell* find_lowest(const std::vector<Cell*>& cells, int priority) {
  Cell* lowest = nullptr;
  for (Cell* cell : cells) {
    if (cell->priority == kFree) {
      if (cell->bound == nullptr) return cell;
    } else if (cell->priority < (lowest ? std::min(lowest->priority, priority) : priority)) {
      lowest = cell;
    }
  }
  return lowest;
}

/// The virtual cell for a physical one in a cell that is owned at `level`, of which `roots` are
/// all.
Cell* find_virtual(Cell& cell, const Levels& roots, int level, int priority) {
  if (cell.bound != nullptr) return cell.bound;
  if (cell.level == level) return find_lowest(roots[level], priority);
  if (cell.parent == nullptr) return nullptr;
  Cell* const above = find_virtual(*cell.parent, roots, level, priority);
  return above == nullptr ? nullptr : find_lowest(above->children, priority);
}

}  // namespace

std::vector<int> Request::pods() const {
  std::vector<int> pods;
  for (const Member& member : members) {
    pods.insert(pods.end(), static_cast<std::size_t>(member.pods), member.leaves);
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

Scheduler::Scheduler(Cluster cluster) : cluster_(std::move(cluster)), owners_(cluster_.vcs.size()) {
  for (std::size_t i = 0; i < cluster_.chains.size(); ++i) {
    const Chain& chain = cluster_.chains[i];
    pools_.emplace_back(cluster_, static_cast<int>(i));
    physical_.emplace_back(chain.cells, chain, false);
    by_leaf_[chain.types[1]].push_back(static_cast<int>(i));
    for (Cell* leaf : chain.cells[1]) leaves_[{i, leaf->nodes.front(), leaf->index}] = leaf;
  }
  for (auto& [_, chains] : by_leaf_) {
    std::sort(chains.begin(), chains.end(), [&](int one, int other) {
      return cluster_.chains[one].name > cluster_.chains[other].name;
    });
  }
  for (std::size_t vc = 0; vc < cluster_.vcs.size(); ++vc) {
    const VirtualCluster& from = cluster_.vcs[vc];
    for (const auto& [chain, cells] : from.cells) {
      owners_[vc].views.try_emplace(chain, cells, cluster_.chains[chain], true);
    }
    for (const auto& [name, cells] : from.pinned) {
      Cell& physical = *from.pinned_to.at(name);
      owners_[vc].pinned.try_emplace(name, cells, cluster_.chains[physical.chain], true);
      pools_[physical.chain].take(physical, static_cast<int>(vc));
      physical.bound = cells.back().front();
      physical.bound->bound = &physical;
    }
  }
}

std::string Scheduler::check(const Request& request) const {
  if (request.members.empty()) return "a group must have pods";
  for (const Member& member : request.members) {
    if (member.pods < 1 || member.leaves < 1) return "a member must have pods and leaves";
  }
  if (request.priority < kOpportunistic || request.priority > kMostGuaranteed) {
    return fmt::format("the priority must be from {} to {}, not {}", kOpportunistic,
                       kMostGuaranteed, request.priority);
  }
  const int vc = cluster_.find_vc(request.vc);
  if (vc < 0) return fmt::format("there is no virtual cluster {}", request.vc);
  if (!request.pinned.empty()) {
    if (!owners_[vc].pinned.contains(request.pinned)) {
      return fmt::format("virtual cluster {} has no pinned cell {}", request.vc, request.pinned);
    }
    if (request.priority == kOpportunistic) return "an opportunistic group has no pinned cell";
  } else if (!request.leaf_type.empty()) {
    if (!by_leaf_.contains(request.leaf_type)) {
      return fmt::format("there is no leaf of type {}", request.leaf_type);
    }
    if (chains(request).empty()) {
      return fmt::format("virtual cluster {} has no leaf of type {}", request.vc,
                         request.leaf_type);
    }
  }
  return "";
}

/// Where a request that names no pinned cell may be served, in the order in which that is tried.
std::vector<int> Scheduler::chains(const Request& request) const {
  const Owner& owner = owners_[cluster_.find_vc(request.vc)];
  std::vector<int> chains;
  for (const auto& [type, of_type] : by_leaf_) {
    if (!request.leaf_type.empty() && request.leaf_type != type) continue;
    for (const int chain : of_type) {
      if (request.priority == kOpportunistic || owner.views.contains(chain)) {
        chains.push_back(chain);
      }
    }
  }
  return chains;
}

bool Scheduler::fits(const Request& request) const {
  if (request.priority < kLeastGuaranteed || !check(request).empty()) return false;
  const Owner& owner = owners_[cluster_.find_vc(request.vc)];
  const auto has_room = [&](View view) {
    return view.place(request.pods(), request.priority, everywhere()).has_value();
  };
  if (!request.pinned.empty()) return has_room(owner.pinned.at(request.pinned));
  const std::vector<int> tried = chains(request);
  return std::any_of(tried.begin(), tried.end(),
                     [&](int chain) { return has_room(owner.views.at(chain)); });
}

Decision Scheduler::decide(const Request& request, const Nodes& suggested, bool claim) {
  if (const auto known = groups_.find(request.group); known != groups_.end()) {
    Group& group = known->second;
    if (!group.preempting) return describe(group.physical, group.owned);
    bool usable = true;
    each_leaf(group.physical, [&](const Cell& leaf, std::size_t, std::size_t) {
      usable &= leaf.healthy && suggested[leaf.nodes.front()];
    });
    if (usable || !claim) {
      Decision decision = describe(group.physical, group.owned);
      for (const Group* victim : victims(group.physical)) {
        decision.what = Decision::What::preempt;
        decision.victims.push_back(victim->request.group);
      }
      return decision;
    }
    cancel(group);
  }
  if (std::string why = check(request); !why.empty()) {
    Decision refused;
    refused.what = Decision::What::refuse;
    refused.why = std::move(why);
    return refused;
  }
  std::optional<Found> found = place(request, suggested);
  if (!found) {
    Decision waiting;
    waiting.why = "no cells for it that are free, healthy and suggested";
    return waiting;
  }
  Decision decision = describe(found->physical, found->owned);
  decision.demoted = std::move(found->demoted);
  const std::vector<Group*> in_the_way = victims(found->physical);
  if (claim) {
    std::set<Group*> claimants;
    each_leaf(found->physical, [&](const Cell& leaf, std::size_t, std::size_t) {
      if (leaf.claimant != nullptr) claimants.insert(leaf.claimant);
    });
    for (Group* other : claimants) cancel(*other);
    if (!in_the_way.empty()) this->claim(request, *found);
  }
  for (const Group* victim : in_the_way) {
    decision.what = Decision::What::preempt;
    decision.victims.push_back(victim->request.group);
  }
  return decision;
}

std::optional<Scheduler::Found> Scheduler::place(const Request& request, const Nodes& suggested) {
  Owner& owner = owners_[cluster_.find_vc(request.vc)];
  if (!request.pinned.empty()) {
    return place_guaranteed(request, -1, owner.pinned.at(request.pinned), suggested);
  }
  for (const int chain : chains(request)) {
    if (request.priority >= kLeastGuaranteed) {
      if (auto found = place_guaranteed(request, chain, owner.views.at(chain), suggested)) {
        return found;
      }
    } else if (auto physical = look(physical_[chain], request, suggested)) {
      return Found{.physical = std::move(*physical)};
    }
  }
  return std::nullopt;
}

std::optional<Placement> Scheduler::look(View& view, const Request& request,
                                         const Nodes& suggested) {
  std::optional<Placement> found = view.place(request.pods(), request.priority, suggested);
  if (view.has_turned()) ++changes_;
  return found;
}

std::optional<Scheduler::Found> Scheduler::place_guaranteed(const Request& request, int chain,
                                                            View& view, const Nodes& suggested) {
  std::optional<Placement> owned = look(view, request, suggested);
  if (!owned) return std::nullopt;
  Found found;
  std::map<Group*, Placement> before;  // of those demoted
  each_leaf(*owned, [&](const Cell& leaf, std::size_t, std::size_t) {
    const Cell* const physical = leaf.bound;
    if (physical == nullptr || physical->state != State::used) return;
    Group* const holder = physical->holder;
    if (!holder->request.lazy || !holder->owned) return;
    before.emplace(holder, *holder->owned);
    demote(*holder);
    found.demoted.push_back(holder->request.group);
  });
  Bindings bindings;
  const Pool* const pool = chain < 0 ? nullptr : &pools_[chain];
  if (!map_to_physical(*owned, pool, suggested, bindings)) {
    for (const std::string& name : found.demoted) {
      Group& group = groups_.at(name);
      restore(group, before.at(&group));
    }
    return std::nullopt;
  }
  found.physical = *owned;
  for (std::vector<Cell*>& pod : found.physical) {
    for (Cell*& leaf : pod) leaf = bindings.at(leaf);
  }
  found.owned = std::move(owned);
  return found;
}

Decision Scheduler::describe(const Placement& physical,
                             const std::optional<Placement>& owned) const {
  Decision decision;
  decision.what = Decision::What::bind;
  decision.pods.resize(physical.size());
  each_leaf(physical, [&](const Cell& leaf, std::size_t pod, std::size_t i) {
    const Chain& chain = cluster_.chains[leaf.chain];
    decision.chain = chain.name;
    decision.pods[pod].node = cluster_.nodes[leaf.nodes.front()];
    decision.pods[pod].leaves.push_back(leaf.index);
    const Cell* const cell = owned ? (*owned)[pod][i] : nullptr;
    decision.pods[pod].owned.push_back(cell ? chain.types[cell->root->level] : "");
  });
  return decision;
}

/// Groups that run where the placement is, in the order of its leaves.
std::vector<Group*> Scheduler::victims(const Placement& physical) {
  std::vector<Group*> victims;
  each_leaf(physical, [&](const Cell& leaf, std::size_t, std::size_t) {
    if (leaf.state != State::used && leaf.state != State::reserving) return;
    if (std::find(victims.begin(), victims.end(), leaf.holder) == victims.end()) {
      victims.push_back(leaf.holder);
    }
  });
  return victims;
}

void Scheduler::claim(const Request& request, const Found& found) {
  Group& group = groups_[request.group];
  group = {
      .request = request, .physical = found.physical, .owned = found.owned, .preempting = true};
  const int vc = vc_of(group);
  each_leaf(group.physical, [&](Cell& leaf, std::size_t pod, std::size_t i) {
    const bool used = leaf.state == State::used;
    if (used) give_leaf(leaf, vc_of(*leaf.holder));
    take_leaf(leaf, (*group.owned)[pod][i], request.priority, vc);
    leaf.claimant = &group;
    leaf.state = used ? State::reserving : State::reserved;
  });
}

/// The group preempts no more; what it took goes back to its victims.
void Scheduler::cancel(Group& group) {
  const int vc = vc_of(group);
  each_leaf(group.physical, [&](Cell& leaf, std::size_t, std::size_t) {
    give_leaf(leaf, vc);
    leaf.claimant = nullptr;
    if (leaf.state == State::reserved) {
      leaf.state = State::free;
      return;
    }
    leaf.state = State::used;
    const Group& holder = *leaf.holder;
    Cell* owned = nullptr;
    each_leaf(holder.physical, [&](const Cell& held, std::size_t pod, std::size_t i) {
      if (&held == &leaf && holder.owned) owned = (*holder.owned)[pod][i];
    });
    take_leaf(leaf, owned, holder.request.priority, vc_of(holder));
  });
  groups_.erase(group.request.group);
}

void Scheduler::release(const std::string& name) {
  const auto found = groups_.find(name);
  if (found == groups_.end()) return;
  Group& group = found->second;
  if (group.preempting) return cancel(group);
  const int vc = vc_of(group);
  each_leaf(group.physical, [&](Cell& leaf, std::size_t, std::size_t) {
    leaf.holder = nullptr;
    if (leaf.state == State::used) {
      give_leaf(leaf, vc);
      leaf.state = State::free;
    } else {
      leaf.state = State::reserved;
    }
  });
  groups_.erase(found);
}

void Scheduler::allocate(const Request& request, const Decision& decision) {
  const auto settle = [](Group& group, Cell& leaf) {
    leaf.claimant = nullptr;
    leaf.holder = &group;
    leaf.state = State::used;
  };
  if (const auto known = groups_.find(request.group); known != groups_.end()) {
    Group& group = known->second;
    if (!group.preempting) return;
    each_leaf(group.physical, [&](Cell& leaf, std::size_t, std::size_t) { settle(group, leaf); });
    group.preempting = false;
    return;
  }
  Group& group = groups_[request.group];
  group.request = request;
  group.owned.emplace();
  const int vc = vc_of(group);
  bool lost = false;  // some virtual cell is not there any more
  for (const Pod& pod : decision.pods) {
    group.physical.emplace_back(pod.leaves.size(), nullptr);
    if (group.owned) group.owned->emplace_back(pod.leaves.size(), nullptr);
    for (std::size_t i = 0; i < pod.leaves.size(); ++i) {
      Cell* const leaf = find_leaf(decision.chain, cluster_.find_node(pod.node), pod.leaves[i]);
      if (leaf == nullptr) continue;
      group.physical.back()[i] = leaf;
      Cell* owned = nullptr;
      if (pod.owned[i].empty()) {
        group.owned.reset();
      } else if (group.owned && !lost) {
        owned = find_owned(request, *leaf, pod.owned[i]);
        lost = owned == nullptr;
      }
      if (owned != nullptr) {
        group.owned->back()[i] = owned;
        if (pools_[leaf->chain].is_free(*leaf) && owned->root->priority > kFree) {
          evict(*owned->root);
        }
      }
      lost |= !take_leaf(*leaf, owned, request.priority, vc);
      settle(group, *leaf);
    }
  }
  if (lost) demote(group);
}

/// Demotes all groups within a virtual cell.
void Scheduler::evict(Cell& owned) {
  for (Cell* child : owned.children) evict(*child);
  if (owned.level > 1 || owned.bound == nullptr || owned.bound->state != State::used) return;
  demote(*owned.bound->holder);
}

/// The group runs on without the virtual cells, which others may have now.
void Scheduler::demote(Group& group) {
  const int vc = vc_of(group);
  if (group.owned) {
    each_leaf(*group.owned, [&](const Cell& owned, std::size_t, std::size_t) {
      Cell* const leaf = owned.bound;
      if (leaf == nullptr || leaf->holder != &group || leaf->state != State::used) return;
      give_leaf(*leaf, vc);
      take_leaf(*leaf, nullptr, kOpportunistic, vc);
    });
  }
  group.owned.reset();
  group.demoted = true;
}

void Scheduler::restore(Group& group, const Placement& owned) {
  const int vc = vc_of(group);
  each_leaf(group.physical, [&](Cell& leaf, std::size_t pod, std::size_t i) {
    give_leaf(leaf, vc);
    take_leaf(leaf, owned[pod][i], group.request.priority, vc);
  });
  group.owned = owned;
  group.demoted = false;
}

/// A leaf by name: in the chain, or where it has gone since; null if it is nowhere.
Cell* Scheduler::find_leaf(const std::string& chain, int node, int index) const {
  Cell* elsewhere = nullptr;
  for (std::size_t i = 0; i < cluster_.chains.size(); ++i) {
    const auto found = leaves_.find({i, node, index});
    if (found == leaves_.end()) continue;
    if (cluster_.chains[i].name == chain) return found->second;
    if (elsewhere == nullptr) elsewhere = found->second;
  }
  return elsewhere;
}

/// The virtual leaf for a physical one that was bound in a cell of type `type`; null if there is
/// none any more.
Cell* Scheduler::find_owned(const Request& request, Cell& leaf, const std::string& type) const {
  const std::vector<std::string>& types = cluster_.chains[leaf.chain].types;
  const auto level = std::find(types.begin() + 1, types.end(), type);
  const int vc = cluster_.find_vc(request.vc);
  if (level == types.end() || vc < 0) return nullptr;
  const VirtualCluster& owner = cluster_.vcs[vc];
  Levels roots;
  if (!request.pinned.empty()) {
    const auto pinned = owner.pinned.find(request.pinned);
    if (pinned != owner.pinned.end()) roots = pinned->second;
  } else if (const auto owned = owner.roots.find(leaf.chain); owned != owner.roots.end()) {
    roots = owned->second;
  }
  roots.resize(types.size());
  return find_virtual(leaf, roots, static_cast<int>(level - types.begin()), request.priority);
}

/// False where others can no longer have all that they own.
bool Scheduler::take_leaf(Cell& leaf, Cell* owned, int priority, int vc) {
  ++changes_;
  if (owned == nullptr) {
    set_priority(leaf, kOpportunistic);
    count_used(leaf, kOpportunistic, 1);
    return true;
  }
  for (Cell* cell : {owned, &leaf}) {
    set_priority(*cell, priority);
    count_used(*cell, priority, 1);
  }
  const bool fresh = owned->root->bound == nullptr;
  if (leaf.bound == nullptr) bind(leaf, *owned);
  return !fresh || owned->root->bound == nullptr ||
         pools_[leaf.chain].take(*owned->root->bound, vc);
}

void Scheduler::give_leaf(Cell& leaf, int vc) {
  ++changes_;
  if (Cell* const owned = leaf.bound; owned != nullptr) {
    count_used(*owned, owned->priority, -1);
    set_priority(*owned, kFree);
    Cell* const whole = owned->root->bound;
    // A bad leaf stays bound, for its owner to see it.
    if (leaf.healthy) unbind(leaf);
    Pool& pool = pools_[leaf.chain];
    if (whole != nullptr && !whole->pinned && owned->root->priority < kLeastGuaranteed &&
        !pool.doomed(*whole, vc)) {
      pool.give(*whole, vc);
    }
  }
  count_used(leaf, leaf.priority, -1);
  set_priority(leaf, kFree);
}

void Scheduler::set_healthy(int node, bool healthy) {
  for (std::size_t chain = 0; chain < pools_.size(); ++chain) {
    for (Cell* leaf : cluster_.chains[chain].cells[1]) {
      if (leaf->nodes.front() != node) continue;
      healthy ? pools_[chain].set_healthy(*leaf) : pools_[chain].set_bad(*leaf);
    }
  }
}

const Group* Scheduler::find(const std::string& group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : &found->second;
}

}  // namespace almanac::cells
