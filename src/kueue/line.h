// SPDX-License-Identifier: Apache-2.0

/// \file
/// The workloads of a queue that wait. A cycle looks at the first of the heap only, and takes it
/// out only if it is admitted or set aside; those that were set aside wait until quota may have
/// become free.
///
/// Source   Kueue v0.19, pkg/cache/queue: cluster_queue.go.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kueue/world.h"

namespace almanac::kueue {

class Line {
 public:
  /// `sets_shapes_aside` = newcomers of a shape that did not fit are set aside at once.
  Line(bool is_strict, bool sets_shapes_aside)
      : is_strict_(is_strict), sets_shapes_aside_(sets_shapes_aside && !is_strict) {}

  /// Null = the heap is empty. Cost: O(log n).
  Workload* first() const;
  /// All that wait, in order, also those set aside. Cost: O(n log n).
  std::vector<const Workload*> all() const;
  bool is_aside(const Workload& workload) const;

  void push(Workload& workload);
  /// Back into the heap, whatever its shape.
  void put_back(Workload& workload);
  /// Sets it aside. With `takes_its_shape`, which requires that it is in the heap, all of the heap
  /// with its shape go with it. Cost: that of the smaller of the two parts of its shape.
  void set_aside(Workload& workload, bool takes_its_shape);
  /// Returns all that were set aside to the heap. Cost: for each shape, that of the smaller of its
  /// two parts: a queue of 10,000 workloads of few shapes takes no longer than a short one.
  void retry();
  /// The workload waits for those that it preempts, and goes first until it is admitted or removed.
  void hold_place(const Workload& workload) {
    if (!is_strict_) sticky_ = &workload;
  }
  bool holds_place(const Workload& workload) const { return sticky_ == &workload; }
  /// Removes a workload wherever it is. Call before a change of its rank, and push() after it.
  void remove(Workload& workload);

  bool is_strict() const { return is_strict_; }

 private:
  /// Higher rank, then earlier, then by name.
  struct Order {
    using is_transparent = void;
    bool operator()(const Workload* a, const Workload* b) const;
  };
  using Ordered = std::set<Workload*, Order>;
  /// The workloads of one shape.
  struct Kind {
    Ordered heap{};
    Ordered aside{};
    bool goes_aside = false;  ///< Newcomers are set aside at once.
  };

  /// Changes a kind by `change(kind)`, and keeps heads_ up to date.
  template <typename Change>
  void update(Kind& kind, const Change& change);

  bool is_strict_;
  bool sets_shapes_aside_;
  std::map<Shape, Kind> kinds_{};
  Ordered heads_{};  ///< The first of each kind's heap.
  const Workload* sticky_ = nullptr;
};

}  // namespace almanac::kueue
