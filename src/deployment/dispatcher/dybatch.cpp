// SPDX-License-Identifier: Apache-2.0

/// \file
/// The model that has used the GPUs least is next. Its waiting requests are divided, in their
/// order, into batches whose mean slowdown is least, and the first of these runs, as far as its
/// earliest deadline allows.
///
/// The slowdown of a request is its time from now to its answer, relative to its time alone. No
/// other division into such batches is better for one request without being worse for another.
///
/// Source   Zhang et al., CCGrid'20 (DyBatch): the application with the lowest utilization of the
///          device goes first; batches are formed with their Pareto efficiency and the envy between
///          them in mind.
/// Differs  Only the abstract was available. The mean slowdown is our reading of efficient batches;
///          envy is not measured. A model that comes back from idleness counts as having used at
///          least as much as the least of those that wait.
/// Cost     O(requests of the model that wait x its most_batch)
#include <algorithm>
#include <limits>
#include <vector>

#include "deployment/registry.h"

namespace almanac::deployment::dispatcher {
namespace {

class DyBatch final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    level(seen);
    if (seen.running != nullptr) return std::nullopt;
    std::size_t next = seen.variants.size();
    for (std::size_t each = 0; each < seen.variants.size(); ++each) {
      if (seen.queue(each).empty()) continue;
      if (next == seen.variants.size() || used_ms_[each] < used_ms_[next]) next = each;
    }
    if (next == seen.variants.size()) return std::nullopt;
    const auto& queue = seen.queue(next);
    const Variant& it = seen.variants[next];
    std::size_t size = first_batch(it, queue.size());
    while (size > 1 &&
           seen.now_ms + it.batch_ms(static_cast<double>(size), 1) > queue.front().deadline_ms) {
      --size;
    }
    Dispatched made{.variant = next};
    for (std::size_t each = 0; each < size; ++each) made.requests.push_back(queue[each].request);
    used_ms_[next] += it.batch_ms(static_cast<double>(size), 1);
    return made;
  }

 private:
  /// Raises models whose first requests wait to the least use of those that waited before.
  void level(const DispatchCase& seen) {
    used_ms_.resize(seen.variants.size());
    waited_.resize(seen.variants.size());
    double least_ms = std::numeric_limits<double>::infinity();
    for (std::size_t each = 0; each < waited_.size(); ++each) {
      if (waited_[each]) least_ms = std::min(least_ms, used_ms_[each]);
    }
    for (std::size_t each = 0; each < waited_.size(); ++each) {
      const bool waits = !seen.queues[each].empty();
      if (waits && !waited_[each] && least_ms < std::numeric_limits<double>::infinity()) {
        used_ms_[each] = std::max(used_ms_[each], least_ms);
      }
      waited_[each] = waits;
    }
  }

  /// Returns the size of the first batch of the best division of `count` requests.
  static std::size_t first_batch(const Variant& variant, std::size_t count) {
    const auto most = static_cast<std::size_t>(variant.most_batch);
    // The sum of the times to the answers of the last `left` requests: a batch of b delays them
    // all.
    std::vector<double> sum_ms(count + 1, 0);
    std::size_t size = 0;
    for (std::size_t left = 1; left <= count; ++left) {
      sum_ms[left] = std::numeric_limits<double>::infinity();
      for (std::size_t batch = 1; batch <= std::min(most, left); ++batch) {
        const double sum =
            variant.batch_ms(static_cast<double>(batch), 1) * static_cast<double>(left) +
            sum_ms[left - batch];
        if (sum >= sum_ms[left]) continue;
        sum_ms[left] = sum;
        size = batch;
      }
    }
    return size;
  }

  std::vector<double> used_ms_;  // by variant: time of its batches
  std::vector<bool> waited_;     // by variant: whether requests waited at the last call
};

}  // namespace

void register_dybatch(Registry& registry) {
  registry.dispatchers.add(
      {.name = "dybatch",
       .summary = "the model that used the GPUs least, in batches with the least mean slowdown",
       .source = "Zhang et al. CCGrid'20",
       .make = [] { return std::make_unique<DyBatch>(); }});
}

}  // namespace almanac::deployment::dispatcher
