// SPDX-License-Identifier: Apache-2.0
#include "kueue/quota_tree.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace almanac::kueue {

void add(Wants& wants, Slot slot, Amount amount) {
  const auto found =
      std::find_if(wants.begin(), wants.end(), [&](const Want& each) { return each.slot == slot; });
  if (found != wants.end()) {
    found->amount += amount;
  } else {
    wants.push_back({slot, amount});
  }
}

Amount amount_of(const Wants& wants, Slot slot) {
  const auto found =
      std::find_if(wants.begin(), wants.end(), [&](const Want& each) { return each.slot == slot; });
  return found != wants.end() ? found->amount : 0;
}

QuotaTree::QuotaTree(const Setup& setup) : num_queues_(setup.queues.size()) {
  std::set<std::string> resources;
  const auto collect = [&](const std::vector<ResourceGroup>& groups) {
    for (const ResourceGroup& group : groups) {
      for (const FlavorQuotas& flavor : group.flavors) {
        for (const auto& [resource, quota] : flavor.resources) resources.insert(resource);
      }
    }
  };
  for (const Cohort& cohort : setup.cohorts) collect(cohort.groups);
  for (const ClusterQueue& queue : setup.queues) collect(queue.groups);
  resources_.assign(resources.begin(), resources.end());
  num_slots_ = setup.flavors.size() * resources_.size();

  std::map<std::string, FlavorAt> flavors;
  for (std::size_t at = 0; at < setup.flavors.size(); ++at) {
    flavors.emplace(setup.flavors[at].name, static_cast<FlavorAt>(at));
  }
  std::map<std::string, const Cohort*> declared;
  for (const Cohort& cohort : setup.cohorts) declared.emplace(cohort.name, &cohort);
  nodes_.resize(num_queues_);
  quotas_.resize(num_queues_ * num_slots_);
  for (const Cohort& cohort : setup.cohorts) cohort_at(cohort.name, declared, flavors);
  for (std::size_t at = 0; at < num_queues_; ++at) {
    const ClusterQueue& queue = setup.queues[at];
    const auto node = static_cast<NodeAt>(at);
    if (!queue.cohort.empty()) {
      const NodeAt parent = cohort_at(queue.cohort, declared, flavors);
      nodes_[node].parent = parent;
      nodes_[parent].queues.push_back(node);
    }
    nodes_[node].weight = queue.weight;
    declare(node, queue.groups, flavors);
  }
  for (NodeAt node = 0; node < nodes_.size(); ++node) {
    if (parent(node) == kNoNode) sum_up(node);
  }
  for (NodeAt node = 0; node < nodes_.size(); ++node) {
    if (parent(node) != kNoNode) measure(node);
  }
}

NodeAt QuotaTree::cohort_at(const std::string& name,
                            const std::map<std::string, const Cohort*>& declared,
                            const std::map<std::string, FlavorAt>& flavors) {
  if (const auto known = cohort_names_.find(name); known != cohort_names_.end()) {
    return known->second;
  }
  const auto found = declared.find(name);
  const Cohort* const cohort = found != declared.end() ? found->second : nullptr;
  const NodeAt parent = cohort != nullptr && !cohort->parent.empty()
                            ? cohort_at(cohort->parent, declared, flavors)
                            : kNoNode;
  const auto node = static_cast<NodeAt>(nodes_.size());
  cohort_names_.emplace(name, node);
  nodes_.emplace_back().parent = parent;
  quotas_.resize(nodes_.size() * num_slots_);
  if (parent != kNoNode) nodes_[parent].cohorts.push_back(node);
  if (cohort != nullptr) {
    nodes_[node].weight = cohort->weight;
    declare(node, cohort->groups, flavors);
  }
  return node;
}

void QuotaTree::declare(NodeAt node, const std::vector<ResourceGroup>& groups,
                        const std::map<std::string, FlavorAt>& flavors) {
  for (const ResourceGroup& group : groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      for (const auto& [name, declared] : flavor.resources) {
        Quota& made = quota(node, slot(flavors.at(flavor.flavor), resource(name)));
        made.nominal = declared.nominal;
        made.borrowing_limit = declared.borrowing_limit.value_or(kUnlimited);
        made.lending_limit = declared.lending_limit.value_or(kUnlimited);
      }
    }
  }
}

void QuotaTree::sum_up(NodeAt node) {
  Node& made = nodes_[node];
  if (is_queue(node)) {
    made.queues_below = {node};
  } else {
    made.height = made.cohorts.empty() && made.queues.empty() ? 0 : 1;
  }
  for (Slot at = 0; at < num_slots_; ++at) quota(node, at).subtree = nominal(node, at);
  for (const std::vector<NodeAt>* const children : {&made.cohorts, &made.queues}) {
    for (const NodeAt child : *children) {
      sum_up(child);
      if (!is_queue(child)) made.height = std::max(made.height, height(child) + 1);
      const std::span<const QueueAt> below = queues_below(child);
      made.queues_below.insert(made.queues_below.end(), below.begin(), below.end());
      for (Slot at = 0; at < num_slots_; ++at) {
        quota(node, at).subtree += quota(child, at).subtree - quota(child, at).own;
      }
    }
  }
  for (Slot at = 0; at < num_slots_; ++at) {
    Quota& each = quota(node, at);
    each.own = each.lending_limit == kUnlimited
                   ? 0
                   : std::max<Amount>(0, each.subtree - each.lending_limit);
  }
}

void QuotaTree::measure(NodeAt node) {
  nodes_[node].lendable.assign(resources_.size(), 0);
  for (Slot at = 0; at < num_slots_; ++at) {
    nodes_[node].lendable[at % resources_.size()] += most(parent(node), at);
  }
}

ResourceAt QuotaTree::resource(const std::string& name) const {
  const auto found = std::lower_bound(resources_.begin(), resources_.end(), name);
  const bool is_known = found != resources_.end() && *found == name;
  return static_cast<ResourceAt>(is_known ? found - resources_.begin()
                                          : static_cast<std::ptrdiff_t>(resources_.size()));
}

NodeAt QuotaTree::root(NodeAt node) const {
  while (parent(node) != kNoNode) node = parent(node);
  return node;
}

Amount QuotaTree::own_left(NodeAt node, Slot slot) const {
  const Quota& of = quota(node, slot);
  return std::max<Amount>(0, of.own - of.used);
}

Amount QuotaTree::may_take_from_above(NodeAt node, Slot slot) const {
  const Quota& of = quota(node, slot);
  if (of.borrowing_limit == kUnlimited) return kUnlimited;
  return of.subtree - of.own - std::max<Amount>(0, of.used - of.own) + of.borrowing_limit;
}

Amount QuotaTree::left(NodeAt node, Slot slot) const {
  const Quota& of = quota(node, slot);
  if (parent(node) == kNoNode) return of.subtree - of.used;
  const Amount above = std::min(left(parent(node), slot), may_take_from_above(node, slot));
  return own_left(node, slot) + above;
}

NodeAt QuotaTree::limiting(NodeAt node, Slot slot) const {
  while (parent(node) != kNoNode && left(parent(node), slot) <= may_take_from_above(node, slot)) {
    node = parent(node);
  }
  return node;
}

std::string QuotaTree::cohort_name(NodeAt node) const {
  for (const auto& [name, at] : cohort_names_) {
    if (at == node) return name;
  }
  return "";
}

Amount QuotaTree::most(NodeAt node, Slot slot) const {
  const Quota& of = quota(node, slot);
  if (parent(node) == kNoNode) return of.subtree;
  const Amount most_above = of.own + most(parent(node), slot);
  return of.borrowing_limit == kUnlimited ? most_above
                                          : std::min(most_above, of.subtree + of.borrowing_limit);
}

bool QuotaTree::borrows(NodeAt node, Slot slot, Amount more) const {
  const Quota& of = quota(node, slot);
  return (is_queue(node) ? of.nominal : of.subtree) < of.used + more;
}

bool QuotaTree::is_within(NodeAt node, const std::vector<Slot>& slots) const {
  return std::all_of(slots.begin(), slots.end(), [&](Slot slot) {
    const Quota& of = quota(node, slot);
    return of.subtree >= of.used;
  });
}

bool QuotaTree::fits(NodeAt node, Wants& wants) const {
  bool fits = true;
  for (Want& want : wants) {
    const Quota& of = quota(node, want.slot);
    fits = fits && of.subtree >= of.used + want.amount;
    want.amount = std::max<Amount>(0, want.amount - own_left(node, want.slot));
  }
  return fits;
}

Share QuotaTree::share(NodeAt node) const {
  Share made{.weight = nodes_[node].weight};
  if (parent(node) == kNoNode) return made;
  const std::size_t resources = resources_.size();
  for (std::size_t resource = 0; resource < resources; ++resource) {
    Amount borrowed = 0;
    for (std::size_t at = resource; at < num_slots_; at += resources) {
      const Quota& of = quota(node, static_cast<Slot>(at));
      borrowed += std::max<Amount>(0, of.used - of.subtree);
    }
    if (borrowed == 0) continue;
    made.borrows = true;
    const Amount lendable = nodes_[node].lendable[resource];
    if (lendable > 0) {
      made.ratio = std::max(made.ratio,
                            static_cast<double>(borrowed) * 1000.0 / static_cast<double>(lendable));
    }
  }
  return made;
}

bool QuotaTree::borrows_any_of(NodeAt node, const Wants& wants) const {
  return std::any_of(wants.begin(), wants.end(), [&](const Want& want) {
    const Quota& of = quota(node, want.slot);
    return want.amount > 0 && of.used > of.subtree;
  });
}

void QuotaTree::take(NodeAt node, Slot slot, Amount amount) {
  const Amount beyond = amount - own_left(node, slot);
  quota(node, slot).used += amount;
  if (parent(node) != kNoNode && beyond > 0) take(parent(node), slot, beyond);
}

void QuotaTree::give_back(NodeAt node, Slot slot, Amount amount) {
  Quota& of = quota(node, slot);
  const Amount above = of.used - of.own;
  of.used -= amount;
  ALMANAC_CHECK(of.used >= 0, "node {} has given back {} more than it used", node, -of.used);
  if (parent(node) != kNoNode && above > 0) give_back(parent(node), slot, std::min(amount, above));
}

}  // namespace almanac::kueue
