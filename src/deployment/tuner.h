// SPDX-License-Identifier: Apache-2.0

/// \file
/// What changes the copies of a plan between two plans.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "deployment/deployment.h"

namespace almanac::deployment {

class Tuner {
 public:
  virtual ~Tuner() = default;
  /// Looks once a second. Returns what should run from now on; nothing if `running` should stay.
  /// `past_ms` has, by service, the times of the requests of clients that arrived before `now_ms`,
  /// sorted.
  virtual std::optional<Deployment> tune(const PlanningCase& asked, const Deployment& running,
                                         const std::vector<std::span<const double>>& past_ms,
                                         double now_ms) = 0;
};

}  // namespace almanac::deployment
