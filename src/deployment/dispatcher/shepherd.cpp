// SPDX-License-Identifier: Apache-2.0

/// \file
/// The largest batch whose requests are all in time. A batch three times as large preempts a
/// running one.
///
/// Source   Zhang et al., NSDI'23 (SHEPHERD), its online scheduler Flex, with lambda = 3.03.
/// Differs  Its planner Herd, which groups streams and GPUs, is not implemented: every GPU has all
///          models.
#include "deployment/registry.h"

namespace almanac::deployment::dispatcher {
namespace {

class Shepherd final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    constexpr double kLambda = 3.03;
    Dispatched best;
    for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
      auto batch = largest_batch(seen.variants[variant], seen.queues[variant], seen.now_ms);
      if (batch.size() > best.requests.size()) best = {variant, std::move(batch)};
    }
    if (best.requests.empty()) return std::nullopt;
    if (seen.running != nullptr &&
        static_cast<double>(best.requests.size()) <
            kLambda * static_cast<double>(seen.running->requests.size())) {
      return std::nullopt;
    }
    return best;
  }
};

}  // namespace

void register_shepherd(Registry& registry) {
  registry.dispatchers.add({.name = "shepherd",
                            .summary = "the largest batch that finishes in time; a batch three "
                                       "times as large preempts a running one",
                            .source = "Zhang et al. NSDI'23 (Flex)",
                            .make = [] { return std::make_unique<Shepherd>(); }});
}

}  // namespace almanac::deployment::dispatcher
