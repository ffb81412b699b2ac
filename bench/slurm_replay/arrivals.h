// SPDX-License-Identifier: Apache-2.0

/// \file
/// The part of a job log that is replayed, with its time compressed.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "trace/trace.h"

namespace almanac::replay {

/// What a time limit tells Slurm of a job.
enum class Limit {
  usual,  ///< The same of all: the longest run there is.
  exact,  ///< Its run time, one minute for each of the log. So the limit orders jobs as their run
          ///< times do, but is many times as long as they run.
};

struct Window {
  std::string log{};
  Time from = Time::min();
  Time to = kNever;
  double hour_s = 10;           ///< So long takes an hour of the log.
  Duration longest = 24h * 30;  ///< Of the log; what runs longer is cut.
  Limit limit = Limit::usual;
};

/// The jobs with GPUs that were submitted in the window; times are from its first one's. Users and
/// names are kept, virtual clusters are not.
Result<trace::Trace> read_arrivals(const Window& window);

/// In whole minutes, as Slurm counts; at least one.
int limit_min(const trace::Request& request);

}  // namespace almanac::replay
