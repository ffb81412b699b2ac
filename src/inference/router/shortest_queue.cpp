// SPDX-License-Identifier: Apache-2.0

/// \file
/// The replica with the fewest requests, waiting or running.
#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

class ShortestQueue final : public Router {
 public:
  std::size_t choose(RequestId, std::span<Replica* const> replicas) override {
    return least(replicas,
                 [](const Replica& replica) { return replica.waiting() + replica.running(); });
  }
};

}  // namespace

void register_shortest_queue(Registry& registry) {
  registry.routers.add({.name = "shortest_queue",
                        .summary = "fewest requests, waiting or running",
                        .source = "Patel et al. ISCA'24 (Splitwise), simulator: jsq",
                        .make = [](std::uint64_t) { return std::make_unique<ShortestQueue>(); }});
}

}  // namespace almanac::inference::router
