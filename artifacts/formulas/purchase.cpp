// SPDX-License-Identifier: Apache-2.0
#include "formulas/purchase.h"

#include <algorithm>
#include <map>
#include <utility>

namespace almanac::carbon {
namespace {

double usd(const CoreJob& job, Step length) {
  const double hours = static_cast<double>(length) / static_cast<double>(kStepsAnHour);
  return job.cores * hours * (job.on_spot ? kSpotUsd : kOnDemandUsd);
}

/// A binary heap of jobs, earliest arrival first, that leaves equals in the order in which the heap
/// of Python's library does: to take the first, the last one is put at the root, sinks along the
/// lesser children to a leaf and rises from there.
class ArrivalHeap {
 public:
  explicit ArrivalHeap(const std::vector<CoreJob>& jobs) : jobs_(jobs) {}

  bool empty() const { return heap_.empty(); }

  void push(std::size_t job) {
    heap_.push_back(job);
    rise(0, heap_.size() - 1);
  }

  std::size_t pop() {
    std::size_t last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return last;
    std::swap(last, heap_.front());
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && !less(heap_[child], heap_[child + 1])) ++child;
      std::swap(heap_[at], heap_[child]);
      at = child;
    }
    rise(0, at);
    return last;
  }

 private:
  bool less(std::size_t a, std::size_t b) const {
    return jobs_[a].task.arrival < jobs_[b].task.arrival;
  }

  void rise(std::size_t top, std::size_t at) {
    while (at > top) {
      const std::size_t parent = (at - 1) / 2;
      if (!less(heap_[at], heap_[parent])) return;
      std::swap(heap_[at], heap_[parent]);
      at = parent;
    }
  }

  const std::vector<CoreJob>& jobs_;
  std::vector<std::size_t> heap_;
};

}  // namespace

std::vector<BoughtPiece> buy_as_planned(const std::vector<CoreJob>& jobs,
                                        const std::vector<std::vector<Piece>>& plans) {
  std::vector<BoughtPiece> bought;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    for (const Piece& piece : plans[job]) {
      bought.push_back({job, piece, usd(jobs[job], piece.length)});
    }
  }
  return bought;
}

std::vector<BoughtPiece> buy(const std::vector<CoreJob>& jobs, const std::vector<Step>& starts,
                             const Purchase& purchase) {
  std::vector<BoughtPiece> bought;
  ArrivalHeap queue(jobs);
  std::map<Step, int> freed;  // cores, by the step in which their job ends
  std::vector<std::size_t> waits;
  int free = purchase.reserved;
  std::size_t next = 0;
  for (Step now = 0; bought.size() < jobs.size(); ++now) {
    if (queue.empty() && freed.empty() && next < jobs.size()) {
      now = std::max(now, jobs[next].task.arrival);
    }
    for (; next < jobs.size() && jobs[next].task.arrival <= now; ++next) queue.push(next);
    waits.clear();
    while (!queue.empty()) {
      const std::size_t at = queue.pop();
      const CoreJob& job = jobs[at];
      const bool fits = !job.on_spot && free >= job.cores;
      if (now < starts[at] && !(purchase.early && fits)) {
        waits.push_back(at);
        continue;
      }
      if (fits) {
        free -= job.cores;
        freed[now + job.task.length] += job.cores;
      }
      bought.push_back({at, {now, job.task.length}, fits ? 0 : usd(job, job.task.length)});
    }
    for (const std::size_t at : waits) queue.push(at);
    const auto ended = freed.find(now);
    if (ended == freed.end()) continue;
    free += ended->second;
    freed.erase(ended);
  }
  return bought;
}

double reserved_usd(const Purchase& purchase, const std::vector<BoughtPiece>& pieces) {
  Step last = 0;
  for (const BoughtPiece& each : pieces) last = std::max(last, each.piece.start);
  return purchase.reserved * kReservedUsd * static_cast<double>(last) /
         static_cast<double>(kStepsAnHour);
}

}  // namespace almanac::carbon
