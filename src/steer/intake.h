// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes in what the controller tells: jobs that came, started and ended, and other hardware.
#pragma once

#include <string>

#include "service/inquest.h"
#include "slurm/link.h"
#include "steer/known.h"
#include "steer/saving.h"

namespace almanac::steer {

class Intake {
 public:
  Intake(Known& known, Saving& saving);

  /// Whether the hardware is another now. Takes the lock.
  bool take(slurm::News news);

 private:
  void note_ended(const slurm::Job& job);
  /// What its log says of a job that failed; any thread.
  void hear_why(store::JobNumber job, const std::string& why);

  Known& known_;
  Saving& saving_;
  service::Inquest inquest_;  // the last: its thread uses the above
};

}  // namespace almanac::steer
