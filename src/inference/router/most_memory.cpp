// SPDX-License-Identifier: Apache-2.0

/// \file
/// The replica with the most free KV memory per running and waiting request.
#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

class MostMemory final : public Router {
 public:
  std::size_t choose(RequestId, std::span<Replica* const> replicas) override {
    return least(replicas, [](const Replica& replica) {
      const auto present = static_cast<double>(replica.waiting() + replica.running());
      return -static_cast<double>(replica.cache().free()) / (present + 1);
    });
  }
};

}  // namespace

void register_most_memory(Registry& registry) {
  registry.routers.add({.name = "most_memory",
                        .summary = "most free KV memory per request",
                        .source = "Sun et al. OSDI'24 (Llumnix), remaining steps",
                        .make = [](std::uint64_t) { return std::make_unique<MostMemory>(); }});
}

}  // namespace almanac::inference::router
