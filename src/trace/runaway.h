// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds records that nobody closed: a machine or a controller crashed, the job is gone, and
/// accounting has it RUNNING for ever (what `sacctmgr show runawayjobs` lists).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace almanac::trace {

struct Runaway {
  std::uint32_t job = 0;  ///< Position in Trace::jobs.
  std::string node{};     ///< One that others held whole meanwhile; "" = not known.
};

/// A job is one if its end is unknown and it is more than a day beyond its limit, or if others held
/// a node of its whole meanwhile, for ten minutes or more, and it is beyond its limit or has run
/// for a day; a job with an end only if both hold. How many GPUs a node has is what other jobs held
/// at once there and on nodes of which the name differs in numbers only, and at least 8 unless
/// three such nodes agree.
///
/// In order of jobs. Cost: that of use_of_nodes(), where any job may be one.
std::vector<Runaway> find_runaways(const Trace& trace);

/// Leaves them out, with a note that names them; gives how many. A second note names jobs without a
/// limit that have run for a month: nothing proves that they are none.
std::int64_t leave_out_runaways(Trace& trace);

}  // namespace almanac::trace
