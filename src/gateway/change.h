// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// What the daemon changes: jobs that wait, jobs that run, the power of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "slurm/link.h"

namespace almanac::gateway {

/// As slurm::Link has it. Several go at once: the controller spends most of the time of one change
/// waiting for its own locks. When it does not answer at all the rest is not asked.
std::vector<Result<void>> change(std::span<const slurm::JobChange> changes);
Result<void> end(slurm::JobNumber job, slurm::Fate fate);
Result<void> power(std::span<const std::string> nodes, bool on);
Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight);

}  // namespace almanac::gateway
