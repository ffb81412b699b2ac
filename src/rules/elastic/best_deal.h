// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many GPUs each job shall have so that all together are worth most, exactly.
///
/// Source   Saxena et al., MASCOTS'20 (elastic scaling in FfDL), the dynamic program of section IV.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

/// worth[job][g]: what the job is worth with g GPUs; g = 0 is among them, and a job may have as
/// many as are listed. Of deals that are worth the same, later jobs have fewer GPUs. O(jobs x gpus
/// x most).
std::vector<int> best_deal(std::span<const std::vector<double>> worth, int gpus);

}  // namespace almanac::elastic
