// SPDX-License-Identifier: Apache-2.0
#include "kueue/line.h"

#include <algorithm>
#include <iterator>

namespace almanac::kueue {

bool Line::Order::operator()(const Workload* a, const Workload* b) const {
  if (a->rank != b->rank) return a->rank > b->rank;
  if (a->asked.created != b->asked.created) return a->asked.created < b->asked.created;
  return a->name() < b->name();
}

Workload* Line::first() const {
  if (heap_.empty()) return nullptr;
  if (sticky_ != nullptr) {
    const auto sticky = heap_.find(sticky_);
    if (sticky != heap_.end()) return *sticky;
  }
  return *heap_.begin();
}

std::vector<const Workload*> Line::all() const {
  std::vector<const Workload*> made;
  std::merge(heap_.begin(), heap_.end(), aside_.begin(), aside_.end(), std::back_inserter(made),
             Order{});
  const auto sticky = std::find(made.begin(), made.end(), sticky_);
  if (sticky != made.end()) std::rotate(made.begin(), sticky, std::next(sticky));
  return made;
}

void Line::push(Workload& workload) {
  const bool goes_aside = sets_shapes_aside_ && shapes_aside_.contains(workload.shape());
  (goes_aside ? aside_ : heap_).insert(&workload);
}

void Line::set_aside(Workload& workload, bool takes_its_shape) {
  aside_.insert(&workload);
  if (!takes_its_shape || !sets_shapes_aside_) return;
  const Shape shape = workload.shape();
  shapes_aside_.insert(shape);
  // Workloads of a shape have the same rank, so they are neighbours in the heap.
  auto at = heap_.lower_bound(shape);
  while (at != heap_.end() && (*at)->rank == shape.rank) {
    if ((*at)->shape() == shape) {
      aside_.insert(*at);
      at = heap_.erase(at);
    } else {
      ++at;
    }
  }
}

void Line::retry() {
  shapes_aside_.clear();
  heap_.merge(aside_);
}

void Line::remove(Workload& workload) {
  heap_.erase(&workload);
  aside_.erase(&workload);
  if (sticky_ == &workload) sticky_ = nullptr;
}

}  // namespace almanac::kueue
