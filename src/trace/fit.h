// SPDX-License-Identifier: Apache-2.0

/// \file
/// Learns the parameters of a workload from any job log, so that a log can be had again: longer,
/// larger, changed, or for those who may not see the original.
///
/// Start times are not looked at: what users asked for counts, not what the cluster made of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"
#include "trace/workload.h"

namespace almanac::trace {

struct Fit {
  Workload workload;
  std::vector<std::string> notes;  ///< What the log does not say and had to be assumed.
};

/// Fails with invalid when the trace has fewer than two GPU jobs.
/// Cost: O(n log n), and a few generated months to settle how users differ.
Result<Fit> fit(const Trace& trace);

}  // namespace almanac::trace
