// SPDX-License-Identifier: Apache-2.0

/// \file
/// Guards: jobs that no change may touch, whatever a lever wants.
#pragma once

#include <optional>
#include <string>

#include "steer/aside.h"
#include "steer/scene.h"

namespace almanac::steer {

/// Why a job must not be touched: it is gone or exempt, or no longer waits (`of_waiting`) or runs;
/// nothing if it may be touched.
inline std::optional<std::string> forbidden_of(manager::JobNumber number, bool of_waiting,
                                               const Scene& scene) {
  const manager::Job* const job = scene.mirror.find(number);
  if (job == nullptr) return "the job is gone";
  if (is_exempt(*job, scene.settings.exempt)) return "it is exempt";
  if (of_waiting && !waits(*job)) return "it no longer waits";
  if (!of_waiting && !holds_nodes(*job)) return "it does not run";
  return std::nullopt;
}

}  // namespace almanac::steer
