// SPDX-License-Identifier: Apache-2.0

/// \file
/// Splits the batch of a step over GPUs: samples per GPU and pass, and passes whose gradients are
/// accumulated before the exchange. Batch sizes are always per step or per GPU, never mixed.
#pragma once

#include "rules/elastic/application.h"

namespace almanac::elastic {

/// In a step, each GPU makes `accumulations + 1` passes of `atomic_batch` samples.
struct Split {
  int atomic_batch = 0;
  int accumulations = 0;

  int local_batch() const { return atomic_batch * (accumulations + 1); }
  bool operator==(const Split&) const = default;
};

/// Rule for accumulation on one GPU, where a single pass does not reveal the gradient noise.
enum class OneGpu {
  accumulates_beyond_initial,  ///< Accumulates once if the batch is larger than the initial one.
  always_accumulates,          ///< Accumulates once for any batch, as in Optimus' estimate.
};

/// Splits `batch` over `gpus`, with at most `max_local_batch` samples per pass.
/// Source   Pollux' simulator, as the reference states it (section 1.2).
Split split_batch(const BatchLimits& limits, int gpus, double batch,
                  OneGpu rule = OneGpu::accumulates_beyond_initial);

/// Returns `split` with no more samples per pass than the largest batch allows.
Split within_max_batch(const BatchLimits& limits, int gpus, Split split);

/// Returns the seconds of a step with this many accumulations.
inline double step_seconds(StepTime time, int accumulations) {
  return time.step_s + time.accumulation_s() * accumulations;
}

}  // namespace almanac::elastic
