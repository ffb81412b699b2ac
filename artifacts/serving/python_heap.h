// SPDX-License-Identifier: Apache-2.0

/// \file
/// The heap of Python's heapq, which decides what comes first among equals.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace almanac::serving {

/// A min-heap that pops equal items in the order of Python's heapq, which is not the order in which
/// they were pushed. Published programs whose events are compared by time alone depend on it:
/// std::priority_queue leaves that order to the library. O(log n) each.
template <typename Item>
class PythonHeap {
 public:
  bool empty() const { return items_.empty(); }
  void push(Item item) {
    items_.push_back(std::move(item));
    rise(items_.size() - 1);
  }
  /// Requires an item.
  Item pop() {
    std::swap(items_.front(), items_.back());
    Item least = std::move(items_.back());
    items_.pop_back();
    if (!items_.empty()) sink();
    return least;
  }

 private:
  void rise(std::size_t at) {
    while (at > 0 && items_[at] < items_[(at - 1) / 2]) {
      std::swap(items_[at], items_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
  }
  /// Takes the first item down to a leaf, whatever it is, and lets it rise from there.
  void sink() {
    std::size_t at = 0;
    for (std::size_t child = 1; child < items_.size(); child = 2 * at + 1) {
      const std::size_t right = child + 1;
      if (right < items_.size() && !(items_[child] < items_[right])) child = right;
      std::swap(items_[at], items_[child]);
      at = child;
    }
    rise(at);
  }

  std::vector<Item> items_;
};

}  // namespace almanac::serving
