// SPDX-License-Identifier: Apache-2.0

/// \file
/// What if something had been different at a time of a run? Simulates the run until then, and
/// compares the forecasts that all jobs would have received with and without the changes.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "experiment/experiment.h"
#include "forecast/changes.h"
#include "forecast/forecaster.h"

namespace almanac::forecast {

struct ChangesInRun {
  Time at{};  ///< The first event at or after the time asked for.
  std::vector<Shift> shifts{};
};

/// Compares at `at` of run number `run`. Fails with usage if nothing happens by then, otherwise as
/// compare(). Jobs are named by their ids in the log.
Result<ChangesInRun> compare_in_run(const experiment::Prepared& prepared, std::size_t run, Time at,
                                    std::span<const Change> changes, const Options& options);

}  // namespace almanac::forecast
