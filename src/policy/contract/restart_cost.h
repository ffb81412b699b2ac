// SPDX-License-Identifier: Apache-2.0

/// \file
/// What it costs to change where a job runs.
#pragma once

#include <span>

#include "base/time.h"
#include "cluster/ledger.h"
#include "trace/job.h"

namespace almanac::policy {

/// What it costs to run a job again after it was stopped, as work added to it, and to launch one.
/// A job that says its own (Request::restart_s) costs that; one that says how often it writes a
/// checkpoint (Request::checkpoint_s) does again what it did since.
///
/// Source   Hu et al., SC'21, the artifact's SRTF: 7 s for one GPU, 30 s for 2..8, 60 s above;
///          it also holds every job's GPUs for one second more than it runs.
struct RestartCost {
  Duration one_gpu = 7s;
  Duration up_to_8_gpus = 30s;
  Duration more_gpus = 60s;
  /// How often a job that does not say (Request::checkpoint_s) is assumed to write a checkpoint. It
  /// counts where the job fails; a job that a policy stops is assumed to write one first. An hour
  /// is our assumption: logs do not tell, and the mean loss of half an hour a failure is what
  /// clusters with hourly checkpoints report.
  Duration assumed_checkpoint = 1h;
  Duration launch{0};  ///< GPUs are held for this much longer after each run.

  Duration of(int gpus) const {
    if (gpus <= 1) return one_gpu;
    return gpus <= 8 ? up_to_8_gpus : more_gpus;
  }
  /// Of a job that has `worked`, holds `held` and is to hold `wanted`: nothing where the GPUs stay
  /// the same; else a restart, and what it has done since its last checkpoint.
  Duration of(const trace::Request& request, Duration worked, std::span<const cluster::Grant> held,
              std::span<const cluster::Grant> wanted) const;
  /// Of a job that has `worked`, holds `held` and loses its nodes without a warning.
  Duration of_failure(const trace::Request& request, Duration worked,
                      std::span<const cluster::Grant> held) const;
  bool operator==(const RestartCost&) const = default;
};

}  // namespace almanac::policy
