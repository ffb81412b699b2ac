// SPDX-License-Identifier: Apache-2.0

/// \file
/// Looks at a site and says in plain words what Almanac can do there, what it cannot, and what to
/// change. Asks nothing and changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/verdict.h"
#include "slurm/types.h"

namespace almanac::slurm {

/// Features of Almanac that can be switched on separately.
enum class Lever : std::uint8_t {
  watching,    ///< Shadow: sees all, touches nothing.
  learning,    ///< From accounting.
  order,       ///< By priority.
  placement,   ///< On which nodes a job runs.
  power,       ///< Nodes that sleep.
  preemption,  ///< Requeue and suspend.
  slimming,    ///< Fewer CPUs for a job that runs.
  idle,        ///< Messages, or a requeue, if GPUs do not compute.
  sharing,     ///< Two jobs on a GPU.
};
inline constexpr Lever kLevers[] = {Lever::watching,  Lever::learning, Lever::order,
                                    Lever::placement, Lever::power,    Lever::preemption,
                                    Lever::slimming,  Lever::idle,     Lever::sharing};

std::string_view to_string(Lever lever);

struct Finding {
  std::string what{};   ///< "PriorityType"
  std::string found{};  ///< "priority/basic"; "" for nothing.
  Verdict verdict = Verdict::fine;
  std::string means{};
  std::string to_do{};          ///< "" for nothing.
  std::vector<Lever> levers{};  ///< Those that it concerns.
};

struct Diagnosis {
  std::vector<Finding> findings{};

  Verdict of(Lever lever) const;
};

/// `can` and `way` are those of the link that returned `site` and `news`; `news` must be complete.
Diagnosis diagnose(const Site& site, const News& news, Abilities can, std::string_view way);

}  // namespace almanac::slurm
