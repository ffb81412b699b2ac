// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cluster Energy Saving as published: nodes sleep if fewer were used recently and fewer are
/// expected to be used.
///
/// Source   Hu et al., SC'21, section 4.3, Algorithm 2; constants of the artifact.
/// Differs  The forecast uses only the past. Nodes wake up when a job waits for them, not when a
///          series of 10-minute maxima has risen.
#include "energy/ces.h"

#include <optional>

#include "energy/forecaster.h"
#include "policy/registry.h"

namespace almanac::policy::capacity {
namespace {

class Ces final : public Capacity {
 public:
  explicit Ces(const energy::CesSettings& settings) : settings_(settings), loop_(settings) {}

  int nodes_on(const NodeUse& nodes) override {
    if (!soon_) {
      const auto future = static_cast<std::size_t>(settings_.future_steps);
      soon_.emplace(options(nodes.now, future));
      later_.emplace(options(nodes.now, 2 * future));
    }
    soon_->observe(nodes.used);
    later_->observe(nodes.used);
    return loop_
        .step({.used = nodes.used,
               .total = nodes.total,
               .soon = soon_->forecast().median,
               .later = later_->forecast().median},
              nodes.on)
        .active;
  }
  int spare() const override { return settings_.buffer; }
  void woken() override { loop_.hold(); }

 private:
  static energy::ForecastOptions options(Time start, std::size_t horizon) {
    return {.start = start,
            .step = kCapacityPeriod,
            .horizon = horizon,
            .target = energy::Target::mean};
  }

  energy::CesSettings settings_;
  energy::CesLoop loop_;
  std::optional<energy::Forecaster> soon_;
  std::optional<energy::Forecaster> later_;
};

}  // namespace

void register_ces(Registry& registry) {
  for (const std::string& cluster : energy::ces_profiles()) {
    registry.capacities.add({"ces_" + cluster,
                             "Cluster Energy Saving with the constants for " + cluster,
                             "Hu et al. SC'21 §4.3",
                             {.has = {Trait::sleeps_nodes}}},
                            [cluster](const Parameters&) {
                              return std::make_unique<Ces>(*energy::ces_profile(cluster));
                            });
  }
}

}  // namespace almanac::policy::capacity
