// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times whose terms come from physics and whose weights were fitted to measured runs.
#pragma once

#include <array>

#include "inference/profile/model.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// Source   the trained latency model of inference-sim (BLIS).
class TrainedPhysics final : public StepTime {
 public:
  using Weights = std::array<double, 10>;
  TrainedPhysics(Model model, Board board, int gpus, const Weights& weights);
  Micros operator()(const Batch& batch) const override;

 private:
  double ffn(double tokens) const;

  Model model_;
  Weights b_;
  double gpus_;
  double flops_;      // a microsecond
  double bandwidth_;  // bytes a microsecond
};

}  // namespace almanac::inference
