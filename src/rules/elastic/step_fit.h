// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits a model of step times to what a job has reported so far.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 4.1; the priors are those of the published
///          program.
#pragma once

#include <span>

#include "rules/elastic/goodput.h"

namespace almanac::elastic {

/// A measured step time on a number of nodes and GPUs, with a number of samples per pass.
struct Observation {
  int nodes = 1;
  int gpus = 1;
  int atomic_batch = 1;
  StepTime time{};
};

/// Returns the error of a model: root mean square errors of the logarithms of pass and step times,
/// plus small penalties for overlap above 1 and for exchanges that grow with the number of GPUs.
/// `seen` must not be empty.
double fit_objective(const StepModel& model, std::span<const Observation> seen);

/// Returns the model with the smallest fit_objective(). It is optimistic about what was not
/// observed: exchanges take no time, and half of a pass grows with the batch until a second batch
/// is observed.
/// Cost     about 100 us, plus 10 us per observation
StepModel fit_steps(std::span<const Observation> seen);

}  // namespace almanac::elastic
