// SPDX-License-Identifier: Apache-2.0

/// \file
/// Each replica in turn.
#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

class RoundRobin final : public Router {
 public:
  std::size_t choose(RequestId, std::span<Replica* const> replicas) override {
    return next_++ % replicas.size();
  }

 private:
  std::size_t next_ = 0;
};

}  // namespace

void register_round_robin(Registry& registry) {
  registry.routers.add({.name = "round_robin",
                        .summary = "each replica in turn",
                        .source = "Patel et al. ISCA'24 (Splitwise), simulator",
                        .make = [](std::uint64_t) { return std::make_unique<RoundRobin>(); }});
}

}  // namespace almanac::inference::router
