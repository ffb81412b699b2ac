// SPDX-License-Identifier: Apache-2.0

/// \file
/// A lever by itself, without agents.
#pragma once

#include <memory>
#include <string_view>

#include "steer/lever_registry.h"

namespace almanac::steer {

inline std::unique_ptr<Lever> make_lever(std::string_view name) {
  static const Slimmer no_jobs{Slimming{}};
  return levers().make(name, {.slimmer = no_jobs, .present = {}});
}

}  // namespace almanac::steer
