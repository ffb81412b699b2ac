// SPDX-License-Identifier: Apache-2.0

/// \file
/// The place of a job that is being submitted: the answers to Slurm's plugin.
#pragma once

#include <memory>

#include "base/result.h"
#include "steer/controller.h"
#include "steer/known.h"
#include "steer/newcomers.h"
#include "steer/steering.h"

namespace almanac::steer {

class Ranking {
 public:
  Ranking(Known& known, const Controller& controller, const Steering& steering)
      : known_(known), controller_(controller), steering_(steering) {}

  /// Answers the plugin from now on, in its own thread.
  Result<void> listen();

 private:
  Answer rank(manager::Job newcomer);

  Known& known_;
  const Controller& controller_;
  const Steering& steering_;
  std::unique_ptr<Newcomers> newcomers_;  // the last: its thread uses the above
};

}  // namespace almanac::steer
