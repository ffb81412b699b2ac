// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds records that were never closed: a machine or a controller crashed, the job is gone, and
/// accounting shows it as RUNNING forever (listed by `sacctmgr show runawayjobs`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace almanac::trace {

struct Runaway {
  std::uint32_t job = 0;  ///< Position in Trace::jobs.
  /// A node that other jobs held entirely in the meantime; "" if unknown.
  std::string node{};
};

/// A job without an end is a runaway if it is more than a day beyond its limit. It also is one if
/// others held one of its nodes entirely for ten minutes or more, and it is beyond its limit or has
/// run for a day. A job with an end must meet both conditions. The GPU count of a node is the most
/// that other jobs held at once on it and on nodes whose names differ only in numbers; it is at
/// least 8 unless three such nodes agree.
///
/// In order of jobs. Cost: that of use_of_nodes() if any job may be a runaway.
std::vector<Runaway> find_runaways(const Trace& trace);

/// Removes runaways, with a note that names them; returns their number. A second note names jobs
/// without a limit that have run for a month, because nothing proves that they are real.
std::int64_t leave_out_runaways(Trace& trace);

}  // namespace almanac::trace
