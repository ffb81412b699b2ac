// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes moments of times that a log wrote by a clock on the wall, without a zone. Such a clock
/// shows an hour twice when it goes back; run times and the order of events tell which one it was.
#pragma once

#include <optional>

#include "text/time_zone.h"
#include "trace/intake.h"

namespace almanac::trace {

/// Reads the times of all jobs as those of `zone`. Of an hour that came twice it takes the reading
/// in which a job ran as long as its run time, and not before it was submitted; else the one in
/// which ids rise with submission. Cost: some 300 ns a job.
void read_times_in(Trace& trace, const text::TimeZone& zone);

/// Reads the times of a log of Slurm: in `zone`, if given. Else, where run times show that the
/// clock was changed, by the rule of a zone that explains them, on the clock that the log begins
/// with; what was found is noted. Run times decide over ends, and no job waits for less than
/// nothing.
void settle_sacct_clock(Intake& intake, const std::optional<text::TimeZone>& zone);

}  // namespace almanac::trace
