// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cost of changing where a job runs.
#pragma once

#include <span>

#include "base/time.h"
#include "cluster/ledger.h"
#include "trace/job.h"

namespace almanac::policy {

/// Cost of restarting a stopped job, as work added to it, and of launching a job. A job with
/// Request::restart_s costs that. A job with Request::checkpoint_s repeats the work since its last
/// checkpoint.
///
/// Source   Hu et al., SC'21, the artifact's SRTF: 7 s for one GPU, 30 s for 2..8, 60 s above;
///          it also keeps every job's GPUs for one second after the run.
struct RestartCost {
  Duration one_gpu = 7s;
  Duration up_to_8_gpus = 30s;
  Duration more_gpus = 60s;
  /// Assumed checkpoint interval of a job without Request::checkpoint_s. It matters when the job
  /// fails; a job that a policy stops is assumed to write a checkpoint first. One hour is our
  /// assumption, because logs have no data: the mean loss of half an hour per failure is what
  /// clusters with hourly checkpoints report.
  Duration assumed_checkpoint = 1h;
  Duration launch{0};  ///< GPUs stay allocated this much longer after each run.

  Duration of(int gpus) const {
    if (gpus <= 1) return one_gpu;
    return gpus <= 8 ? up_to_8_gpus : more_gpus;
  }
  /// Returns the cost for a job that has done `worked` and changes from `held` to `wanted`: 0 if
  /// the GPUs stay the same, otherwise a restart plus the work since its last checkpoint.
  Duration of(const trace::Request& request, Duration worked, std::span<const cluster::Grant> held,
              std::span<const cluster::Grant> wanted) const;
  /// Returns the cost for a job that has done `worked` on `held` and loses its nodes without
  /// warning.
  Duration of_failure(const trace::Request& request, Duration worked,
                      std::span<const cluster::Grant> held) const;
  bool operator==(const RestartCost&) const = default;
};

}  // namespace almanac::policy
