// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/split.h"

#include <algorithm>
#include <cmath>

namespace almanac::elastic {
namespace {

/// Rounded up, but for what rounding errors add.
double ceil_about(double value) { return std::ceil(value - 1e-8); }

}  // namespace

Split split_batch(const BatchLimits& limits, int gpus, double batch, OneGpu rule) {
  const double local = ceil_about(batch / gpus);
  int accumulations = static_cast<int>(ceil_about(local / limits.max_local_batch)) - 1;
  if (gpus == 1 && (rule == OneGpu::always_accumulates || batch > limits.initial_batch)) {
    accumulations = std::max(1, accumulations);
  }
  return {.atomic_batch = static_cast<int>(ceil_about(local / (accumulations + 1))),
          .accumulations = accumulations};
}

Split within_max_batch(const BatchLimits& limits, int gpus, Split split) {
  const int passes = gpus * (split.accumulations + 1);
  split.atomic_batch = std::min(split.atomic_batch, limits.max_batch / passes);
  return split;
}

}  // namespace almanac::elastic
