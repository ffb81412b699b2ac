// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/step_model.h"

#include <algorithm>
#include <cmath>

namespace almanac::elastic {
namespace {

constexpr double kNearlyNothing = 1e-8;

}  // namespace

double StepModel::exchange_s(int nodes, int gpus) const {
  const double beyond_two = std::max(gpus - 2.0, kNearlyNothing);
  if (nodes > 1) return across + across_per_gpu * beyond_two;
  if (gpus > 1) return within + within_per_gpu * beyond_two;
  return kNearlyNothing + kNearlyNothing * beyond_two;
}

double StepModel::step_s(int nodes, int gpus, double atomic_batch) const {
  const double pass = std::pow(pass_s(atomic_batch), overlap);
  const double exchange = std::pow(exchange_s(nodes, gpus), overlap);
  return std::pow(pass + exchange, 1 / overlap);
}

}  // namespace almanac::elastic
