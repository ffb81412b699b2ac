// SPDX-License-Identifier: Apache-2.0

/// \file
/// The replica with the fewest tokens to compute before the answer begins, not counting those of
/// the prompt that its prefix cache has.
#include <algorithm>

#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

class PrefixAffinity final : public Router {
 public:
  std::size_t choose(RequestId request, std::span<Replica* const> replicas) override {
    // A token that is found need not be computed, so it counts for as much as one that waits.
    return least(replicas, [&](const Replica& replica) {
      return replica.backlog() - replica.would_find(request);
    });
  }
};

}  // namespace

void register_prefix_affinity(Registry& registry) {
  registry.routers.add(
      {.name = "prefix_affinity",
       .summary = "fewest tokens to compute, not counting those in the prefix cache",
       .source = "Qin et al. FAST'25 (Mooncake) §5, local prefixes",
       .make = [](std::uint64_t) { return std::make_unique<PrefixAffinity>(); }});
}

}  // namespace almanac::inference::router
