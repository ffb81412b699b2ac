// SPDX-License-Identifier: Apache-2.0

/// \file
/// The request with the earliest deadline, with as many others of its model as the time until then
/// allows.
///
/// Source   Tang et al., HPCC'19 (Nanily), by the account of Ye et al.'s survey: the time that
///          remains of a request is its deadline less the wait for a GPU, and the batch is the one
///          whose execution takes that time.
/// Differs  The number of GPUs is given; the planner of the same name follows the rate.
#include <algorithm>
#include <limits>

#include "deployment/registry.h"

namespace almanac::deployment::dispatcher {
namespace {

class Nanily final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    if (seen.running != nullptr) return std::nullopt;
    double earliest_ms = std::numeric_limits<double>::infinity();
    Dispatched best;
    for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
      const auto& queue = seen.queue(variant);
      if (queue.empty() || queue.front().deadline_ms >= earliest_ms) continue;
      const Variant& it = seen.variants[variant];
      const double remains_ms = queue.front().deadline_ms - seen.now_ms;
      std::size_t size = 1;
      while (size < queue.size() && size < static_cast<std::size_t>(it.most_batch) &&
             it.batch_ms(static_cast<double>(size + 1), 1) <= remains_ms) {
        ++size;
      }
      earliest_ms = queue.front().deadline_ms;
      best = {variant, {}};
      for (std::size_t each = 0; each < size; ++each) best.requests.push_back(queue[each].request);
    }
    if (best.requests.empty()) return std::nullopt;
    return best;
  }
};

}  // namespace

void register_nanily(Registry& registry) {
  registry.dispatchers.add({.name = "nanily",
                            .summary = "the earliest deadline first, in a batch that takes the "
                                       "time until then",
                            .source = "Tang et al. HPCC'19",
                            .make = [] { return std::make_unique<Nanily>(); }});
}

}  // namespace almanac::deployment::dispatcher
