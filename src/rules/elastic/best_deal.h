// SPDX-License-Identifier: Apache-2.0

/// \file
/// Divides GPUs so that the total worth of all jobs is largest, exactly.
///
/// Source   Saxena et al., MASCOTS'20 (elastic scaling in FfDL), the dynamic program of section IV.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

/// Returns the GPUs of each job. `worth[job][g]` is what the job is worth with g GPUs, starting
/// with g = 0; a job gets at most as many GPUs as are listed. Among equal totals, later jobs get
/// fewer GPUs. O(jobs x gpus x most GPUs of a job).
std::vector<int> best_deal(std::span<const std::vector<double>> worth, int gpus);

}  // namespace almanac::elastic
