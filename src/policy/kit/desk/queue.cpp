// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace almanac::policy {
namespace {

constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

}  // namespace

void WaitingQueue::add_class(DemandId id, const cluster::Demand& demand) {
  if (classes_.size() >= most_classes_) drop_empty();
  position_[index(id)] = static_cast<std::uint32_t>(classes_.size());
  file(classes_.emplace_back(Class{.id = id, .demand = demand}));
}

void WaitingQueue::file(Class& own) {
  if (has_trees()) return file_in_tree(own);
  if (by_gpus_.size() < kFew) {
    const auto behind = std::upper_bound(
        by_gpus_.begin(), by_gpus_.end(), own.demand.gpus,
        [&](std::int32_t gpus, std::uint32_t other) { return gpus < classes_[other].demand.gpus; });
    by_gpus_.insert(behind, static_cast<std::uint32_t>(&own - classes_.data()));
    return;
  }
  by_gpus_.clear();
  for (Class* each = classes_.data(); each <= &own; ++each) file_in_tree(*each);
}

void WaitingQueue::file_in_tree(Class& own) {
  const auto tree = std::lower_bound(
      trees_.begin(), trees_.end(), own.demand.gpus,
      [](const ClassTree& known, std::int32_t gpus) { return known.gpus() < gpus; });
  const auto at = static_cast<std::uint32_t>(tree - trees_.begin());
  if (tree == trees_.end() || tree->gpus() != own.demand.gpus) {
    trees_.emplace(tree, own.demand.gpus);
    for (Class& each : classes_) {
      if (each.tree >= at) ++each.tree;
    }
  }
  own.tree = at;
  own.leaf = trees_[at].add();
  if (!own.jobs.empty()) trees_[at].enter(own.leaf, node_of(own));
}

void WaitingQueue::drop_empty() {
  // Whether a claim is aside is not to be forgotten.
  std::erase_if(classes_, [&](const Class& each) {
    const bool goes = each.jobs.empty() && each.demand.claim == kNoClaim;
    if (goes) position_[index(each.id)] = kAbsent;
    return goes;
  });
  trees_.clear();
  by_gpus_.clear();
  for (std::uint32_t at = 0; at < classes_.size(); ++at) {
    position_[index(classes_[at].id)] = at;
    file(classes_[at]);
  }
  find_first();
  most_classes_ = std::max(kKept, 4 * classes_.size());
}

void WaitingQueue::find_first() {
  if (empty()) return;
  if (!has_trees()) {
    const Class* first = nullptr;
    for (const Class& each : classes_) {
      if (each.jobs.empty()) continue;
      if (first == nullptr || each.front < first->front) first = &each;
    }
    first_ = static_cast<std::uint32_t>(first - classes_.data());
    return;
  }
  const ClassTree* best = nullptr;
  for (const ClassTree& tree : trees_) {
    if (tree.root().empty()) continue;
    if (best == nullptr || tree.root().front < best->root().front) best = &tree;
  }
  if (best != nullptr) first_ = best->root().first;
}

void WaitingQueue::insert(DemandId id, const cluster::Demand& demand, const QueueEntry& entry) {
  if (position_.size() <= index(id)) position_.resize(index(id) + 1, kAbsent);
  if (position_[index(id)] == kAbsent) add_class(id, demand);
  const std::uint32_t position = position_[index(id)];
  Class& own = classes_[position];
  if (own.is_aside) return own.aside.insert(entry);
  const bool is_only = own.jobs.empty();
  const bool is_front = is_only || entry.key < own.front;
  if (is_front) {
    own.front = entry.key;
    if (empty() || entry.key < first().front) first_ = position;
  }
  own.jobs.insert(entry);
  own.believed = is_only ? entry.believed : std::min(own.believed, entry.believed);
  ++size_;
  if (!has_trees()) return;
  ClassTree& tree = trees_[own.tree];
  if (is_only) return tree.enter(own.leaf, node_of(own));
  tree.lower(own.leaf, entry.believed);
  if (is_front) tree.set_front(own.leaf, entry.key);
}

void WaitingQueue::erase(DemandId id, const QueueKey& key) {
  const std::uint32_t position = position_[index(id)];
  Class& own = classes_[position];
  if (own.is_aside) return own.aside.erase(key);
  own.jobs.erase(key);
  --size_;
  if (own.front < key) return;
  if (!own.jobs.empty()) own.front = own.jobs.front().key;
  if (has_trees()) {
    ClassTree& tree = trees_[own.tree];
    own.jobs.empty() ? tree.leave(own.leaf) : tree.set_front(own.leaf, own.front);
  }
  if (position == first_) find_first();
}

void WaitingQueue::set_aside(DemandId id, bool aside) {
  Class& own = classes_[position_[index(id)]];
  if (own.is_aside == aside) return;
  own.is_aside = aside;
  size_ -= own.jobs.size();
  std::swap(own.jobs, own.aside);
  size_ += own.jobs.size();
  if (!own.jobs.empty()) {
    own.front = own.jobs.front().key;
    own.believed = own.jobs.least_believed();
  }
  if (has_trees()) {
    ClassTree& tree = trees_[own.tree];
    own.jobs.empty() ? tree.leave(own.leaf) : tree.enter(own.leaf, node_of(own));
  }
  find_first();
}

bool WaitingQueue::is_aside(DemandId id) const {
  if (index(id) >= position_.size() || position_[index(id)] == kAbsent) return false;
  return classes_[position_[index(id)]].is_aside;
}

cluster::Demand WaitingQueue::least_like(const Class& own) const {
  ALMANAC_CHECK(has_trees(), "{} demands are few", classes_.size());
  const cluster::Demand& all = trees_[own.tree].root().least;
  cluster::Demand made = own.demand;
  made.tasks = all.tasks;
  made.cpu_milli = all.cpu_milli;
  made.memory_mb = all.memory_mb;
  return made;
}

const QueueEntry* WaitingQueue::next(const QueueKey& key) const {
  const auto after = [&](const Class& each) {
    return key < each.front ? &each.jobs.front() : each.jobs.next(key);
  };
  return first_of([](const cluster::Demand&) { return false; }, after).entry;
}

WaitingQueue::Walk::Walk(const WaitingQueue& queue) {
  for (const Class& each : queue.classes()) {
    if (!each.jobs.empty()) lines_.push_back({&each, RankedQueue::Cursor(each.jobs)});
  }
  std::make_heap(lines_.begin(), lines_.end(), is_later);
}

void WaitingQueue::Walk::advance() {
  std::pop_heap(lines_.begin(), lines_.end(), is_later);
  lines_.back().at.advance();
  if (lines_.back().at.get() == nullptr) return lines_.pop_back();
  std::push_heap(lines_.begin(), lines_.end(), is_later);
}

void WaitingQueue::Walk::leave_out() {
  std::pop_heap(lines_.begin(), lines_.end(), is_later);
  lines_.pop_back();
}

}  // namespace almanac::policy
