// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times from first principles: an iteration takes as long as its arithmetic or its traffic to
/// memory, whichever is longer.
#pragma once

#include "inference/profile/model.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// Source   the roofline latency model of inference-sim (BLIS).
/// Differs  in nothing; whole microseconds, at least 1.
class Roofline final : public StepTime {
 public:
  /// `gpus` compute each layer together (tensor parallel).
  Roofline(Model model, Board board, int gpus);
  Micros operator()(const Batch& batch) const override;

 private:
  double flops(double tokens, double token_contexts) const;

  Model model_;
  Board board_;
  int gpus_;
};

}  // namespace almanac::inference
