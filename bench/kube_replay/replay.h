// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job log in one queue of a Kueue cluster: an API server in this process, Kueue by the rules of
/// room kueue, and the live lever of room steer_kube. The time of all three is virtual: it jumps to
/// the next job that comes or ends, or to the lever's next step.
///
/// Kueue hears of each change at once and its cycles take no time. Pods start when they are
/// admitted: there are no nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "steer_kube/run_times.h"
#include "trace/trace.h"

namespace almanac::replay {

struct Course {
  int quota = 0;           ///< GPUs of the queue; no job may ask for more.
  bool is_strict = false;  ///< The queue is StrictFIFO; with the lever, it is backfilled.
  bool has_lever = false;
  steer_kube::MakeEstimator estimator{};  ///< Empty = that of the service.
};

struct Outcome {
  std::vector<Time> starts{};  ///< By job.
  std::int64_t writes = 0;     ///< Of numbers, also those given back.
  double real_s = 0;
};

/// Replays `log`, whose jobs have GPUs and run times. Requires a folder for the service's state.
/// Fails as the service does.
Result<Outcome> replay(const trace::Trace& log, const Course& course, const std::string& folder);

/// Mean seconds between submission and start.
double mean_wait_s(const trace::Trace& log, const std::vector<Time>& starts);

}  // namespace almanac::replay
