// SPDX-License-Identifier: Apache-2.0

/// \file
/// The ends of running jobs in order of time. Any of them can be moved or removed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace almanac::sim {

/// An indexed heap with four children per node, which causes fewer cache misses than two. Ends at
/// the same instant keep the order in which they were pushed.
class EndQueue {
 public:
  explicit EndQueue(std::size_t num_jobs) : position_(num_jobs, 0) {}

  bool empty() const { return heap_.empty(); }
  /// Returns the earliest end. Requires a non-empty queue.
  Time next() const { return heap_[0].at; }
  JobId job() const { return heap_[0].job; }

  bool contains(JobId job) const {
    const std::uint32_t at = position_[index(job)];
    return at < heap_.size() && heap_[at].job == job;
  }

  void push(Time at, JobId job) {
    heap_.push_back({at, sequence_++, job});
    rise(heap_.size() - 1);
  }
  void pop() { remove(0); }
  /// Removes a job, which must be in the queue.
  void erase(JobId job) { remove(position_[index(job)]); }

 private:
  struct Entry {
    Time at{};
    std::uint32_t sequence = 0;
    JobId job{};

    friend bool operator<(const Entry& a, const Entry& b) {
      return a.at != b.at ? a.at < b.at : a.sequence < b.sequence;
    }
  };

  void put(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    position_[index(entry.job)] = static_cast<std::uint32_t>(at);
  }
  void rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0 && entry < heap_[(at - 1) / 4]) {
      put(at, heap_[(at - 1) / 4]);
      at = (at - 1) / 4;
    }
    put(at, entry);
  }
  void sink(std::size_t at) {
    const Entry entry = heap_[at];
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= heap_.size()) break;
      const std::size_t last = first + 4 < heap_.size() ? first + 4 : heap_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < last; ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (!(heap_[least] < entry)) break;
      put(at, heap_[least]);
      at = least;
    }
    put(at, entry);
  }
  void remove(std::size_t at) {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    const bool earlier = last < heap_[at];
    put(at, last);
    earlier ? rise(at) : sink(at);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;  // in heap_, for each job in it
  std::uint32_t sequence_ = 0;
};

}  // namespace almanac::sim
