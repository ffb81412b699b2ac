// SPDX-License-Identifier: Apache-2.0
#include "kueue/line.h"

#include <algorithm>
#include <iterator>

namespace almanac::kueue {

namespace {

/// Moves all elements. Cost: that of the smaller set.
template <typename Set>
void move_all(Set& from, Set& to) {
  if (from.size() > to.size()) std::swap(from, to);
  to.merge(from);
}

}  // namespace

bool Line::Order::operator()(const Workload* a, const Workload* b) const {
  if (a->rank != b->rank) return a->rank > b->rank;
  if (a->asked.created != b->asked.created) return a->asked.created < b->asked.created;
  return a->name() < b->name();
}

template <typename Change>
void Line::update(Kind& kind, const Change& change) {
  const auto head = [&] { return kind.heap.empty() ? nullptr : *kind.heap.begin(); };
  Workload* const before = head();
  change(kind);
  Workload* const after = head();
  if (before == after) return;
  if (before != nullptr) heads_.erase(before);
  if (after != nullptr) heads_.insert(after);
}

Workload* Line::first() const {
  if (sticky_ != nullptr) {
    if (const auto kind = kinds_.find(sticky_->shape()); kind != kinds_.end()) {
      const auto sticky = kind->second.heap.find(sticky_);
      if (sticky != kind->second.heap.end()) return *sticky;
    }
  }
  return heads_.empty() ? nullptr : *heads_.begin();
}

std::vector<const Workload*> Line::all() const {
  std::vector<const Workload*> made;
  for (const auto& [shape, kind] : kinds_) {
    made.insert(made.end(), kind.heap.begin(), kind.heap.end());
    made.insert(made.end(), kind.aside.begin(), kind.aside.end());
  }
  std::sort(made.begin(), made.end(), Order{});
  const auto sticky = std::find(made.begin(), made.end(), sticky_);
  if (sticky != made.end()) std::rotate(made.begin(), sticky, std::next(sticky));
  return made;
}

bool Line::is_aside(const Workload& workload) const {
  const auto kind = kinds_.find(workload.shape());
  return kind != kinds_.end() && kind->second.aside.contains(&workload);
}

void Line::push(Workload& workload) {
  update(kinds_[workload.shape()],
         [&](Kind& kind) { (kind.goes_aside ? kind.aside : kind.heap).insert(&workload); });
}

void Line::put_back(Workload& workload) {
  update(kinds_[workload.shape()], [&](Kind& kind) { kind.heap.insert(&workload); });
}

void Line::set_aside(Workload& workload, bool takes_its_shape) {
  update(kinds_[workload.shape()], [&](Kind& kind) {
    if (takes_its_shape && sets_shapes_aside_) {
      kind.goes_aside = true;
      move_all(kind.heap, kind.aside);
    } else {
      kind.heap.erase(&workload);
      kind.aside.insert(&workload);
    }
  });
}

void Line::retry() {
  for (auto at = kinds_.begin(); at != kinds_.end();) {
    Kind& kind = at->second;
    kind.goes_aside = false;
    if (!kind.aside.empty()) {
      update(kind, [](Kind& of) { move_all(of.aside, of.heap); });
    }
    at = kind.heap.empty() ? kinds_.erase(at) : std::next(at);
  }
}

void Line::remove(Workload& workload) {
  if (sticky_ == &workload) sticky_ = nullptr;
  const auto found = kinds_.find(workload.shape());
  if (found == kinds_.end()) return;
  update(found->second, [&](Kind& kind) {
    kind.heap.erase(&workload);
    kind.aside.erase(&workload);
  });
}

}  // namespace almanac::kueue
