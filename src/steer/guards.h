// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whose jobs no change may touch, whatever a lever wants.
#pragma once

#include <optional>
#include <string>

#include "steer/aside.h"
#include "steer/scene.h"

namespace almanac::steer {

/// Why a job is not touched: it is gone or exempt, or does not wait any more (`of_waiting`), or
/// run; nothing = it may be.
inline std::optional<std::string> forbidden_of(slurm::JobNumber number, bool of_waiting,
                                               const Scene& scene) {
  const slurm::Job* const job = scene.mirror.find(number);
  if (job == nullptr) return "it is not there any more";
  if (is_exempt(*job, scene.settings.exempt)) return "it is exempt";
  if (of_waiting && !waits(*job)) return "it does not wait any more";
  if (!of_waiting && !holds_nodes(*job)) return "it does not run";
  return std::nullopt;
}

}  // namespace almanac::steer
