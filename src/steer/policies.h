// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies of the registry as the brain of a Slurm can have them.
#pragma once

#include <string>

#include "base/result.h"
#include "policy/composition.h"

namespace almanac::steer {

/// A policy, taken apart: what decides who is next and where, and what decides which nodes are on.
struct Chosen {
  policy::Composition composition{};  ///< With every node on.
  std::string capacity = "all";       ///< As the policy has it, for whoever powers nodes.
};

/// The policy that `text` names. An estimate that only a simulation can have becomes the paper's
/// rolling one. Fails with usage as Registry::compose() does, and with unsupported where a policy
/// wants of Slurm what no Slurm can: other cores or GPUs for a job that runs, memory from one
/// decision to the next.
Result<Chosen> compose(const std::string& text);

}  // namespace almanac::steer
