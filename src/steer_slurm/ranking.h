// SPDX-License-Identifier: Apache-2.0

/// \file
/// The place of a job that is being submitted: the answers to Slurm's plugin.
#pragma once

#include <memory>

#include "base/result.h"
#include "steer/controller.h"
#include "steer/known.h"
#include "steer/steering.h"
#include "steer_slurm/newcomers.h"

namespace almanac::steer_slurm {

class Ranking {
 public:
  Ranking(steer::Known& known, const steer::Controller& controller, const steer::Steering& steering)
      : known_(known), controller_(controller), steering_(steering) {}

  /// Answers the plugin from now on, in its own thread.
  Result<void> listen();

 private:
  Answer rank(manager::Job newcomer);

  steer::Known& known_;
  const steer::Controller& controller_;
  const steer::Steering& steering_;
  std::unique_ptr<Newcomers> newcomers_;  // the last: its thread uses the above
};

}  // namespace almanac::steer_slurm
