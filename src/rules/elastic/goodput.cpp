// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/goodput.h"

#include <algorithm>
#include <cmath>

namespace almanac::elastic {
namespace {

constexpr double kTiny = 1e-8;
constexpr int kBatches = 50;

/// The `at`-th of kBatches numbers in geometric progression, both ends exact.
double geometric(double from, double to, int at) {
  if (at == 0) return from;
  if (at == kBatches - 1) return to;
  const double low = std::log10(from);
  const double step = (std::log10(to) - low) / (kBatches - 1);
  return std::pow(10.0, at * step + low);
}

}  // namespace

Goodput best_goodput(const StepModel& model, Gradient gradient, const BatchLimits& limits,
                     int nodes, int gpus) {
  const double least = std::max(limits.initial_batch, limits.min_local_batch * gpus);
  const double exchange = std::pow(model.exchange_s(nodes, gpus), model.overlap);
  Goodput best{.value = -1};
  for (int at = 0; at < kBatches; ++at) {
    const double local = geometric(least, limits.max_batch, at) / gpus;
    Split split{.accumulations =
                    static_cast<int>(std::ceil(local / limits.max_local_batch - kTiny) - 1)};
    if (gpus == 1 && local > limits.initial_batch + kTiny) {
      split.accumulations = std::max(split.accumulations, 1);
    }
    split.atomic_batch = static_cast<int>(std::ceil(local / (split.accumulations + 1) - kTiny));
    double value = 0;
    if (split.atomic_batch >= limits.min_local_batch &&
        split.atomic_batch <= limits.max_local_batch) {
      const double pass = model.pass_s(split.atomic_batch);
      const double step = std::pow(std::pow(pass, model.overlap) + exchange, 1 / model.overlap);
      const double batch = static_cast<double>(gpus) * split.local_batch();
      const double efficiency =
          step_gain(gradient, batch, limits.initial_batch) / (batch / limits.initial_batch);
      value = batch / (split.accumulations * pass + step) * efficiency;
    }
    if (value > best.value) best = {.value = value, .split = split};
  }
  return best;
}

}  // namespace almanac::elastic
