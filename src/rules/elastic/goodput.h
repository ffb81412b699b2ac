// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job is believed to do on other GPUs: progress a second, as throughput times statistical
/// efficiency.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 3.
#pragma once

#include "rules/elastic/application.h"
#include "rules/elastic/split.h"

namespace almanac::elastic {

/// A split and the progress that it is believed to make, in samples of the initial batch a second.
struct Goodput {
  double value = 0;
  Split split{};
};

/// The best of 50 batches in geometric progression up to the largest, on `gpus` of `nodes`, each at
/// least 1. 0 where no batch fits. Cost: about 5 us.
Goodput best_goodput(const StepModel& model, Gradient gradient, const BatchLimits& limits,
                     int nodes, int gpus);

}  // namespace almanac::elastic
