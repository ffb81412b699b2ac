// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies of the registry as the brain of a Slurm can have them.
#pragma once

#include <string>

#include "base/result.h"
#include "policy/composition.h"

namespace almanac::steer {

/// What of a policy changes the cores of jobs that run.
struct Slimming {
  policy::Composition composition{};  ///< Its size and throttle; no job waits under it.

  bool slims() const { return composition.size != "asked" || composition.throttle != "none"; }
};

/// A policy, taken apart: what decides which job is next and where, what decides which nodes are
/// on, and what decides how many cores jobs keep.
struct Chosen {
  policy::Composition composition{};  ///< With every node on, and cores as they are asked.
  policy::Choice capacity = "all";    ///< As the policy has it, for the lever that powers nodes.
  Slimming slimming{};
  bool only_moves = false;  ///< It stops running jobs only to have them go on elsewhere.
};

/// The policy that `text` names. An estimate that only a simulation can have becomes the paper's
/// rolling one. Fails with usage as Registry::compose() does, and with unsupported where a policy
/// wants of Slurm what no Slurm can: other cores or GPUs than a job asks when it starts, memory
/// from one decision to the next.
Result<Chosen> compose(const std::string& text);

}  // namespace almanac::steer
