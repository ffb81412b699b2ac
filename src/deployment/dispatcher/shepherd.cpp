// SPDX-License-Identifier: Apache-2.0

/// \file
/// The largest batch whose requests are all in time. A batch three times as large preempts a
/// running one.
///
/// Source   Zhang et al., NSDI'23 (SHEPHERD): its online scheduler Flex, with lambda = 3.03. With
///          limited memory its planner Herd (herd.h) says which models a GPU holds.
#include "deployment/herd.h"
#include "deployment/registry.h"

namespace almanac::deployment::dispatcher {
namespace {

class Shepherd final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    constexpr double kLambda = 3.03;
    Dispatched best;
    for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
      auto batch = largest_batch(seen.variants[variant], seen.queue(variant), seen.now_ms);
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

  Result<std::vector<std::vector<bool>>> place(const PlaceCase& asked) override {
    const auto groups = herd(asked);
    if (!groups) return tl::unexpected(groups.error());
    std::vector<std::vector<bool>> made;
    for (const HerdGroup& group : *groups) {
      std::vector<bool> held(asked.variants.size());
      for (const std::size_t each : group.variants) held[each] = true;
      made.insert(made.end(), static_cast<std::size_t>(group.gpus), held);
    }
    made.resize(static_cast<std::size_t>(asked.gpus), std::vector<bool>(asked.variants.size()));
    return made;
  }
};

}  // namespace

void register_shepherd(Registry& registry) {
  registry.dispatchers.add({.name = "shepherd",
                            .summary = "the largest batch that finishes in time; a batch three "
                                       "times as large preempts a running one",
                            .source = "Zhang et al. NSDI'23 (Flex, Herd)",
                            .make = [] { return std::make_unique<Shepherd>(); }});
}

}  // namespace almanac::deployment::dispatcher
