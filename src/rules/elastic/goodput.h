// SPDX-License-Identifier: Apache-2.0

/// \file
/// The expected progress per second of a job on other GPUs: throughput times statistical
/// efficiency.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 3.
#pragma once

#include "rules/elastic/application.h"
#include "rules/elastic/split.h"

namespace almanac::elastic {

/// A split and its expected progress, in samples of the initial batch per second.
struct Goodput {
  double value = 0;
  Split split{};
};

/// Returns the best of 50 batch sizes in geometric progression up to the largest, on `gpus` GPUs of
/// `nodes` nodes, each at least 1. The value is 0 if no batch fits. Cost: about 5 us.
Goodput best_goodput(const StepModel& model, Gradient gradient, const BatchLimits& limits,
                     int nodes, int gpus);

}  // namespace almanac::elastic
