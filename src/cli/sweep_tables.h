// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a sweep found, as tables for a reader.
#pragma once

#include <cstddef>
#include <vector>

#include "experiment/sweep.h"

namespace almanac::cli {

/// A row for each load and policy: averages over the seeds and, where speeds were simulated, what
/// the GPUs did. `points` as experiment::sweep() gives them.
void show_points(const std::vector<experiment::SweepPoint>& points, std::size_t seeds);

}  // namespace almanac::cli
