// SPDX-License-Identifier: Apache-2.0

/// \file
/// The power settings of slurm.conf, and which nodes are reserved.
#pragma once

#include <string>

#include "base/time.h"
#include "manager/node.h"
#include "steer/mirror.h"

namespace almanac::steer {

struct PowerFacts {
  bool has_programs = false;  ///< SuspendProgram and ResumeProgram are set.
  bool is_on = false;         ///< SuspendTime is set, so Slurm powers nodes down.
  Duration down{};            ///< SuspendTimeout: the most that powering down takes.
  Duration up{};              ///< ResumeTimeout.
  /// After a command to power down, when a node can be back at the latest: Slurm looks at nodes
  /// that change only from time to time.
  Duration back{};
};

PowerFacts power_facts(const manager::Site& site);

/// Whether a reservation has the node, or will have before `within` is over.
bool is_due(const std::string& node, const Mirror& mirror, Duration within);

}  // namespace almanac::steer
