// SPDX-License-Identifier: Apache-2.0

/// \file
/// Processes the news of the controller: jobs that came, started and ended, and changes of
/// hardware.
#pragma once

#include <string>

#include "manager/link.h"
#include "service/inquest.h"
#include "steer/known.h"
#include "steer/saving.h"

namespace almanac::steer {

class Intake {
 public:
  Intake(Known& known, Saving& saving);

  /// Returns whether the hardware has changed. Takes the lock.
  bool take(manager::News news);

 private:
  /// Counts the wait of a job that has started, for the metrics.
  void note_wait(const manager::Job& job);
  void note_ended(const manager::Job& job);
  /// Notes why a job failed, from its log. Any thread.
  void hear_why(store::JobNumber job, const std::string& why);

  Known& known_;
  Saving& saving_;
  service::Inquest inquest_;  // the last: its thread uses the above
};

}  // namespace almanac::steer
