// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes that the policy has chosen for a job, if the manager can run it there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steer/lever.h"

namespace almanac::steer {

/// Nothing if a node is off, drained, reserved or in another partition, or if the job requests what
/// was not checked: features in brackets (suitable.h), or a number of GPUs per node that the choice
/// does not have.
std::optional<std::vector<std::string>> chosen_nodes(const manager::Job& job,
                                                     const Decision::Start& start,
                                                     const Scene& scene);

}  // namespace almanac::steer
