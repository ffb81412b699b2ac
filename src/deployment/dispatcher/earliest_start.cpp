// SPDX-License-Identifier: Apache-2.0

/// \file
/// The model whose batch must start soonest, with the largest batch of 1, 2, 4, 8 or 16 whose
/// oldest requests are in time. It preempts nothing.
///
/// Source   Gujarati et al., OSDI'20 (Clockwork), section 5.3.
/// Differs  All models are loaded. Durations are known instead of the longest of the last ten.
#include <limits>

#include "deployment/registry.h"

namespace almanac::deployment::dispatcher {
namespace {

class EarliestStart final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    if (seen.running != nullptr) return std::nullopt;
    double soonest = std::numeric_limits<double>::infinity();
    Dispatched best;
    for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
      const Variant& it = seen.variants[variant];
      const auto& queue = seen.queues[variant];
      std::size_t batch = 0;
      for (std::size_t size = 1; size <= kLargest && size <= queue.size() &&
                                 size <= static_cast<std::size_t>(it.most_batch);
           size *= 2) {
        if (start_by(it, queue, size) >= seen.now_ms) batch = size;
      }
      if (batch == 0 || start_by(it, queue, batch) >= soonest) continue;
      soonest = start_by(it, queue, batch);
      best = {variant, {}};
      for (std::size_t each = 0; each < batch; ++each) best.requests.push_back(queue[each].request);
    }
    if (best.requests.empty()) return std::nullopt;
    return best;
  }

 private:
  static constexpr std::size_t kLargest = 16;
  static double start_by(const Variant& variant, const std::vector<Queued>& queue,
                         std::size_t size) {
    return queue.front().deadline_ms - variant.batch_ms(static_cast<int>(size), 1);
  }
};

}  // namespace

void register_earliest_start(Registry& registry) {
  registry.dispatchers.add(
      {.name = "earliest_start",
       .summary =
           "the model whose batch must start soonest, with as many requests as finish in time",
       .source = "Gujarati et al. OSDI'20 §5.3",
       .make = [] { return std::make_unique<EarliestStart>(); }});
}

}  // namespace almanac::deployment::dispatcher
