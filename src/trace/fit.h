// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits the parameters of a workload to any job log, so that similar logs can be generated: longer,
/// larger, changed, or for people who may not see the original.
///
/// Start times are ignored: the log of requests matters, not what the cluster made of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"
#include "trace/workload.h"

namespace almanac::trace {

struct Fit {
  Workload workload;
  std::vector<std::string> notes;  ///< Facts that the log lacks and that were assumed.
};

/// Fails with invalid when the trace has fewer than two GPU jobs.
/// Cost: O(n log n), and a few generated months to settle how users differ.
Result<Fit> fit(const Trace& trace);

}  // namespace almanac::trace
