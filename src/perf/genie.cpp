// SPDX-License-Identifier: Apache-2.0
#include "perf/genie.h"

#include <algorithm>

namespace almanac::perf {
namespace {

/// However much is lost, a task gets on.
constexpr double kLeastGpus = 0.05;

}  // namespace

double Comm::left_of(Shape shape, double gpu_step_s) const {
  const double gpus = shape.gpus();
  if (gpus <= 1) return gpus;
  const double beside = lambda * (shape.gpus_per_node - 1);
  if (form == Form::sync) {
    const double wait_s = gamma * (shape.nodes - 1 + beside);
    return std::max(kLeastGpus, gpus * gpu_step_s / (gpu_step_s + wait_s));
  }
  double lost = gamma * ((shape.nodes - 1) * shape.gpus_per_node + beside);
  if (form == Form::printed) lost /= gpus - 1;
  return std::max(kLeastGpus, gpus - lost);
}

double GenieRate::operator()(double batch, Shape shape) const {
  const double each = batch / shape.gpus();
  const double speed = one_gpu(each);
  return comm.left_of(shape, each / speed) * speed;
}

}  // namespace almanac::perf
