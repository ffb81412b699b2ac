// SPDX-License-Identifier: Apache-2.0

/// \file
/// Follows the queue and the use of KV memory, after they have grown.
#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "inference/registry.h"

namespace almanac::inference::scaler {
namespace {

/// Source   Kubernetes' horizontal pod autoscaler: ceil(replicas x metric / target), the larger
///          result of two metrics; no change within a tenth; scales down to the maximum of the last
///          300 s. The metrics are those of llm-d's saturation rule: 5 waiting requests per
///          replica, and 80 % of the KV memory.
/// Differs  Without a replica, one is requested for every 5 waiting requests.
class Reactive final : public Scaler {
 public:
  int want(Micros now, const Load& load) override {
    const int present = load.ready + load.starting;
    const double queue = static_cast<double>(load.waiting) / kQueue;
    // What one replica more would change is seen when it is ready, not before.
    const double memory = load.ready * load.kv_use / kMemory;
    const double raw = std::max(queue, memory);
    int desired = present;
    if (present == 0 || std::abs(raw / present - 1) > kTolerance) {
      desired = static_cast<int>(std::ceil(raw - 1e-9));
    }
    if (load.running + load.waiting > 0) desired = std::max(desired, 1);
    asked_.emplace_back(now, desired);
    while (asked_.front().first < now - kStable) asked_.pop_front();
    if (desired >= present) return desired;
    int most = 0;
    for (const auto& [at, replicas] : asked_) most = std::max(most, replicas);
    return std::min(present, most);
  }
  Micros period() const override { return 15e6; }

 private:
  static constexpr double kQueue = 5, kMemory = 0.8, kTolerance = 0.1;
  static constexpr Micros kStable = 300e6;
  std::deque<std::pair<Micros, int>> asked_;
};

}  // namespace

void register_reactive(Registry& registry) {
  registry.scalers.add({.name = "reactive",
                        .summary = "by waiting requests and KV memory in use",
                        .source = "Kubernetes HPA; llm-d saturation rule",
                        .make = {[](const ScalerCase&) { return std::make_unique<Reactive>(); }}});
}

}  // namespace almanac::inference::scaler
