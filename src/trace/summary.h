// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says in few numbers what a trace holds.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"
#include "trace/trace.h"

namespace almanac::trace {

/// Mean and quantiles of a sample; NaN if empty.
struct Spread {
  std::int64_t count = 0;
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
};

/// What jobs request on their nodes in addition to GPUs, if known.
struct HostUse {
  Spread cpus;             ///< Cores of a job.
  Spread memory_gb;        ///< GB of a job.
  double core_time_s = 0;  ///< Sum of cores x run.
};

struct Summary {
  std::int64_t jobs = 0;
  std::int64_t gpu_jobs = 0;   ///< Request a GPU or a part of one.
  std::int64_t never_ran = 0;  ///< Left the queue without having run; in no average.
  std::int64_t users = 0;      ///< Distinct users; 0 if the log has none.
  std::int64_t vcs = 0;
  Time first_submit{};
  Time last_submit{};
  double gpu_time_gpu_s = 0;  ///< Sum of GPUs (shares counted as parts) x run.
  Spread run_s;               ///< GPU jobs that ran.
  /// GPU jobs that ran, with a recorded start: from joining the queue to the start.
  Spread wait_s;
  Spread gpus;                           ///< GPU jobs that ran.
  HostUse gpu_hosts;                     ///< GPU jobs that ran.
  Spread cpu_run_s;                      ///< CPU jobs that ran.
  HostUse cpu_hosts;                     ///< CPU jobs that ran.
  std::array<std::int64_t, 9> states{};  ///< Indexed by JobState.
};

Summary summarize(const Trace& trace);

}  // namespace almanac::trace
