// SPDX-License-Identifier: Apache-2.0
#include "perf/step_time.h"

#include <algorithm>
#include <cmath>

namespace almanac::perf {

double join(double compute, double sync, double overlap) {
  if (sync == 0 || overlap == 1) return compute + sync;
  // Relative to the longer one, so that no power overflows.
  const double longer = std::max(compute, sync);
  const double shorter = std::min(compute, sync);
  return longer * std::pow(1 + std::pow(shorter / longer, overlap), 1 / overlap);
}

double StepTime::operator()(double batch_per_gpu, int gpus, int nodes) const {
  return join(compute(batch_per_gpu), sync(gpus, nodes), overlap);
}

}  // namespace almanac::perf
