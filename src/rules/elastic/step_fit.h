// SPDX-License-Identifier: Apache-2.0

/// \file
/// A model of step times from what a job has reported so far.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 4.1; the priors are those of the published
///          program.
#pragma once

#include <span>

#include "rules/elastic/goodput.h"

namespace almanac::elastic {

/// How long steps took with so many GPUs of so many nodes and so many samples a pass.
struct Observation {
  int nodes = 1;
  int gpus = 1;
  int atomic_batch = 1;
  StepTime time{};
};

/// Errors of the logarithms of pass and step (root mean squares), and a little for overlap beyond 1
/// and for exchanges that grow with GPUs. `seen` must not be empty.
double fit_objective(const StepModel& model, std::span<const Observation> seen);

/// The model that makes this least. What nothing was seen of stays optimistic: exchanges cost
/// nothing until seen, half of a pass is its batch until a second batch is seen.
/// Cost: some 100 us and 10 us an observation.
StepModel fit_steps(std::span<const Observation> seen);

}  // namespace almanac::elastic
