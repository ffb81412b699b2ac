// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measured runs of vLLM with which the simulation was compared and to which nothing was fitted
/// (docs/evidence/inference.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/service.h"

namespace almanac::inference {

struct MeasuredRuns {
  int count = 0;
  double end_to_end_error = 0;  ///< Mean absolute error of end-to-end latency, relative.
};

/// Returns the runs that the error of `service` is known from: those with its model, weights, board
/// and GPUs per stage. Nothing = none were compared. The evaluation runs of a board have one error
/// for all of their models; a board file with [checked] answers for every model. Options do not
/// count, see unmeasured_options().
std::optional<MeasuredRuns> measured_runs(const Service& service);

/// Returns the options of `service` that none of those runs has, a noun each: "drafts".
std::vector<std::string> unmeasured_options(const Service& service);

}  // namespace almanac::inference
