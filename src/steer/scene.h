// SPDX-License-Identifier: Apache-2.0

/// \file
/// What levers look at, and guards.
#pragma once

#include "slurm/link.h"
#include "steer/decision.h"
#include "steer/mirror.h"
#include "steer/policies.h"
#include "steer/settings.h"

namespace almanac::steer {

class Claims;

struct Scene {
  const Settings& settings;
  const slurm::Site& site;
  slurm::Abilities can{};
  const Mirror& mirror;
  const Decision& decision;
  const Chosen& policy;
  // The driver says these.
  const Claims* claims = nullptr;  ///< What stands of what was done.
  bool places = false;             ///< The lever `placement` is on, and does not rest.
  bool shares = false;             ///< The lever `sharing`.
  Duration lease{};                ///< How long jobs are held that are not held anew (leases.h).
};

}  // namespace almanac::steer
