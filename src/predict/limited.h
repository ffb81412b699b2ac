// SPDX-License-Identifier: Apache-2.0

/// \file
/// Predictions of run times of jobs that are ended at their time limits.
#pragma once

#include <algorithm>

#include "predict/distribution.h"
#include "predict/run_time.h"

namespace almanac::predict {

/// Returns the cell that holds the run time of a job that runs to its limit; the last cell without
/// a limit.
inline std::size_t last_cell(Duration time_limit) {
  return time_limit == kNoDuration ? Distribution::kCells - 1
                                   : Distribution::cell_of(log_time(time_limit));
}

/// Returns `said` with the mass above the cell of the limit moved onto it.
inline Distribution cut_at_limit(const Distribution& said, Duration time_limit) {
  const std::size_t last = last_cell(time_limit);
  Distribution made;
  for (std::size_t cell = 0; cell < Distribution::kCells; ++cell) {
    made.add_cell(std::min(cell, last), said.mass(cell));
  }
  return made;
}

}  // namespace almanac::predict
