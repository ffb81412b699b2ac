// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the batch of a step lies on GPUs: samples a GPU at a time, and passes whose gradients are
/// accumulated before they are exchanged. A batch a GPU is never the batch of the step.
#pragma once

#include "rules/elastic/application.h"

namespace almanac::elastic {

/// Each GPU makes `accumulations + 1` passes of `atomic_batch` samples a step.
struct Split {
  int atomic_batch = 0;
  int accumulations = 0;

  int local_batch() const { return atomic_batch * (accumulations + 1); }
  bool operator==(const Split&) const = default;
};

/// Why a job on one GPU may be told to accumulate: from a single pass it cannot tell the noise of
/// its gradient.
enum class OneGpu {
  accumulates_beyond_initial,  ///< One accumulation where the batch is larger than the initial one.
  always_accumulates,          ///< One accumulation, whatever the batch: Optimus' estimate.
};

/// The split of `batch` over `gpus`, at most `max_local_batch` samples a pass.
/// Source   Pollux' simulator, as the reference states it (section 1.2).
Split split_batch(const BatchLimits& limits, int gpus, double batch,
                  OneGpu rule = OneGpu::accumulates_beyond_initial);

/// The same split with no more samples a pass than the largest batch allows.
Split within_max_batch(const BatchLimits& limits, int gpus, Split split);

/// Seconds of a step split so.
inline double step_seconds(StepTime time, int accumulations) {
  return time.step_s + time.accumulation_s() * accumulations;
}

}  // namespace almanac::elastic
