// SPDX-License-Identifier: Apache-2.0

/// \file
/// Optimistic profiling held against a table that was measured in full.
#pragma once

#include <span>

#include "perf/input_curve.h"
#include "perf/measurement.h"

namespace almanac::perf {

struct ProfileTrial {
  int measured = 0;  ///< Runs that the profiler needs.
  int grid = 0;      ///< Runs of a full profile: each number of cores up to the most, each memory.
  double error = 0;  ///< Root mean square of ln(filled / table), over the table.
  double worst = 0;  ///< Most |filled / table - 1|.
};

/// `rows` of one model and one number of GPUs, with cores and memory. The profiler measures at most
/// memory, between the cores of the table by straight lines; fetching it takes from `curve`.
ProfileTrial try_profile(std::span<const Measurement> rows, const InputCurve& curve);

}  // namespace almanac::perf
