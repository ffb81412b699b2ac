// SPDX-License-Identifier: Apache-2.0

/// \file
/// As many nodes as the forecast peak needs, by the prices of a delay, a wake-up and a node-hour.
///
/// Source   Our own; energy/standby.h.
#include "energy/standby.h"

#include <optional>

#include "policy/registry.h"

namespace almanac::policy::capacity {
namespace {

class Standby final : public Capacity {
 public:
  int nodes_on(const NodeUse& nodes) override {
    if (!forecaster_) forecaster_.emplace(nodes.now, kCapacityPeriod);
    return rules_.decide(forecaster_->observe(nodes.used, nodes.total));
  }

 private:
  std::optional<energy::StandbyForecaster> forecaster_;
  energy::StandbyRules rules_{{}, kCapacityPeriod};
};

}  // namespace

void register_standby(Registry& registry) {
  registry.capacities.add({"standby",
                           "as many nodes as the forecast peak needs, weighing the cost of delays "
                           "against the power saved",
                           "energy/standby.h",
                           {.has = {Trait::sleeps_nodes}}},
                          [](const Parameters&) { return std::make_unique<Standby>(); });
}

}  // namespace almanac::policy::capacity
