// SPDX-License-Identifier: Apache-2.0

/// \file
/// What it costs to stop a job and run it again.
#pragma once

#include "base/time.h"

namespace almanac::policy {

/// What it costs to run a job again after it was stopped, as work added to it, and to launch one.
///
/// Source   Hu et al., SC'21, the artifact's SRTF: 7 s for one GPU, 30 s for 2..8, 60 s above;
///          it also holds every job's GPUs for one second more than it runs.
struct RestartCost {
  Duration one_gpu = 7s;
  Duration up_to_8_gpus = 30s;
  Duration more_gpus = 60s;
  Duration launch{0};  ///< GPUs are held for this much longer after each run.

  Duration of(int gpus) const {
    if (gpus <= 1) return one_gpu;
    return gpus <= 8 ? up_to_8_gpus : more_gpus;
  }
  bool operator==(const RestartCost&) const = default;
};

}  // namespace almanac::policy
