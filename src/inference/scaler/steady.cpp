// SPDX-License-Identifier: Apache-2.0

/// \file
/// The largest allowed number of replicas, all the time.
#include "inference/registry.h"

namespace almanac::inference::scaler {
namespace {

class Steady final : public Scaler {
 public:
  explicit Steady(const ScalerCase& told) : replicas_(told.most) {}
  int want(Micros, const Load&) override { return replicas_; }
  Micros period() const override { return 60e6; }

 private:
  int replicas_;
};

}  // namespace

void register_steady(Registry& registry) {
  registry.scalers.add(
      {.name = "steady",
       .summary = "the largest number of replicas, all the time",
       .source = "a fleet sized for its peak",
       .make = {[](const ScalerCase& told) { return std::make_unique<Steady>(told); }}});
}

}  // namespace almanac::inference::scaler
