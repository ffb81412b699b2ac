// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes that a policy has chosen for a job, where Slurm can run it there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steer/lever.h"

namespace almanac::steer {

/// Nothing where a node is not on, is drained, reserved or of another partition; or where the job
/// asks for what nobody looked at: features in brackets (suitable.h), so many GPUs on each of so
/// many nodes that the choice has otherwise.
std::optional<std::vector<std::string>> chosen_nodes(const slurm::Job& job,
                                                     const Decision::Start& start,
                                                     const Scene& scene);

}  // namespace almanac::steer
