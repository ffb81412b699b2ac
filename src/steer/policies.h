// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies of the registry as they can decide for a managed cluster.
#pragma once

#include <string>

#include "base/result.h"
#include "policy/composition.h"

namespace almanac::steer {

/// The part of a policy that changes the cores of running jobs.
struct Slimming {
  policy::Composition composition{};  ///< Size and throttle of the policy; no job waits under it.

  bool slims() const {
    const policy::Composition usual;
    return composition.size != usual.size || composition.throttle != usual.throttle;
  }
};

/// The parts of a policy: which job is next and where, which nodes are on, and how many cores jobs
/// keep.
struct Chosen {
  policy::Composition composition{};  ///< With every node on, and cores as requested.
  policy::Choice capacity = "all";    ///< For the lever `power`.
  Slimming slimming{};
  bool only_moves = false;  ///< The policy stops running jobs only to move them.
};

/// The policy that `text` names. An estimate that only a simulation can have becomes the paper's
/// rolling one, and a shape that revises waiting jobs is taken off, because no job of such a
/// cluster has a range of GPUs. Fails with usage as Registry::compose() does, and with unsupported
/// where a policy needs what the manager cannot do: other cores or GPUs than requested at the start
/// of a job, or memory from one decision to the next.
Result<Chosen> compose(const std::string& text);

}  // namespace almanac::steer
