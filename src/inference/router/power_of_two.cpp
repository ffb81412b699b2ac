// SPDX-License-Identifier: Apache-2.0

/// \file
/// The shorter queue of two random replicas.
#include "base/rng.h"
#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

class PowerOfTwo final : public Router {
 public:
  explicit PowerOfTwo(std::uint64_t seed) : rng_(seed) {}
  std::size_t choose(RequestId, std::span<Replica* const> replicas) override {
    const std::size_t one = rng_.below(replicas.size());
    const std::size_t other = rng_.below(replicas.size());
    return load(*replicas[other]) < load(*replicas[one]) ? other : one;
  }

 private:
  static std::size_t load(const Replica& replica) { return replica.waiting() + replica.running(); }
  Rng rng_;
};

}  // namespace

void register_power_of_two(Registry& registry) {
  registry.routers.add(
      {.name = "power_of_two",
       .summary = "the shorter of two random queues",
       .source = "Mitzenmacher, TPDS'01",
       .make = [](std::uint64_t seed) { return std::make_unique<PowerOfTwo>(seed); }});
}

}  // namespace almanac::inference::router
