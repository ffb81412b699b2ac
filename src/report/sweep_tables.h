// SPDX-License-Identifier: Apache-2.0

/// \file
/// The results of a sweep as tables for readers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/sweep.h"
#include "figure/rows.h"

namespace almanac::report {

/// Returns one row per load and policy with averages over seeds and, if speeds were simulated, GPU
/// utilization. `points` come from experiment::sweep().
std::string sweep_tables(const std::vector<experiment::SweepPoint>& points, std::size_t seeds,
                         const figure::TableForm& form);

}  // namespace almanac::report
