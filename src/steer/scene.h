// SPDX-License-Identifier: Apache-2.0

/// \file
/// What levers and guards look at.
#pragma once

#include "manager/link.h"
#include "steer/decision.h"
#include "steer/mirror.h"
#include "steer/policies.h"
#include "steer/settings.h"

namespace almanac::steer {

class Claims;

struct Scene {
  const Settings& settings;
  const manager::Site& site;
  manager::Abilities can{};
  const Mirror& mirror;
  const Decision& decision;
  const Chosen& policy;
  // Set by the driver.
  const Claims* claims = nullptr;  ///< Changes in effect.
  bool places = false;             ///< Whether the lever `placement` acts.
  bool shares = false;             ///< Whether the lever `sharing` acts.
  Duration lease{};                ///< Length of a hold that is not renewed (leases.h).
};

}  // namespace almanac::steer
