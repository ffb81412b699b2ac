// SPDX-License-Identifier: Apache-2.0

/// \file
/// The replica with the fewest tokens still to compute.
#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

class LeastTokens final : public Router {
 public:
  std::size_t choose(RequestId, std::span<Replica* const> replicas) override {
    return least(replicas, [](const Replica& replica) { return replica.backlog(); });
  }
};

}  // namespace

void register_least_tokens(Registry& registry) {
  registry.routers.add(
      {.name = "least_tokens",
       .summary = "fewest tokens still to compute; knows answer lengths in advance",
       .source = "Patel et al. ISCA'24 (Splitwise), simulator: token_jsq",
       .make = [](std::uint64_t) { return std::make_unique<LeastTokens>(); }});
}

}  // namespace almanac::inference::router
