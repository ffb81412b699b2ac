// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a sweep found, as tables for a reader.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/sweep.h"
#include "figure/rows.h"

namespace almanac::report {

/// A row for each load and policy: averages over the seeds and, where speeds were simulated, what
/// the GPUs did. `points` as experiment::sweep() gives them.
std::string sweep_tables(const std::vector<experiment::SweepPoint>& points, std::size_t seeds,
                         const figure::TableForm& form);

}  // namespace almanac::report
