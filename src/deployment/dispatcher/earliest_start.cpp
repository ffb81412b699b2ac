// SPDX-License-Identifier: Apache-2.0

/// \file
/// The model whose batch must start soonest, with the largest batch of 1, 2, 4, 8 or 16 whose
/// oldest requests are in time. It preempts nothing.
///
/// With limited memory a GPU loads the model with the most work that its GPUs do not get done.
///
/// Source   Gujarati et al., OSDI'20 (Clockwork), section 5.3: the priority of a load is the demand
///          of the model, less what the GPUs that hold it have allotted to it. If the models on a
///          GPU ask for more than it can do, each gets its part.
/// Differs  Durations are known instead of the longest of the last ten. Demand is the work of the
///          waiting requests in full batches, and is divided equally among the GPUs that hold the
///          model. A GPU can do 100 ms of it.
#include <algorithm>
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
      const auto& queue = seen.queue(variant);
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

  std::optional<std::size_t> load(const LoadCase& seen) override {
    const auto demand_ms = [&](std::size_t variant) {
      const Variant& it = seen.variants[variant];
      const auto waits = seen.queues[variant].size();
      if (waits == 0) return 0.0;
      const auto batch =
          static_cast<int>(std::min({waits, kLargest, static_cast<std::size_t>(it.most_batch)}));
      return static_cast<double>(waits) * it.batch_ms(batch, 1) / batch;
    };
    std::vector<double> demands(seen.variants.size()), left;
    std::vector<double> holders(seen.variants.size()), asked_ms(seen.held.size());
    for (std::size_t variant = 0; variant < demands.size(); ++variant) {
      demands[variant] = demand_ms(variant);
      for (const auto& held : seen.held) holders[variant] += held[variant];
    }
    for (std::size_t gpu = 0; gpu < seen.held.size(); ++gpu) {
      for (std::size_t variant = 0; variant < demands.size(); ++variant) {
        if (seen.held[gpu][variant]) asked_ms[gpu] += demands[variant] / holders[variant];
      }
    }
    left = demands;
    for (std::size_t gpu = 0; gpu < seen.held.size(); ++gpu) {
      const double done = std::min(1.0, kAbleMs / std::max(asked_ms[gpu], 1e-9));
      for (std::size_t variant = 0; variant < demands.size(); ++variant) {
        if (seen.held[gpu][variant]) left[variant] -= done * demands[variant] / holders[variant];
      }
    }
    std::optional<std::size_t> most;
    for (std::size_t variant = 0; variant < left.size(); ++variant) {
      if (left[variant] <= kRoundingMs || seen.held[static_cast<std::size_t>(seen.gpu)][variant]) {
        continue;
      }
      if (!most || left[variant] > left[*most]) most = variant;
    }
    return most;
  }

 private:
  static constexpr std::size_t kLargest = 16;
  static constexpr double kAbleMs = 100, kRoundingMs = 1e-6;
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
