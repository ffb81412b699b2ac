// SPDX-License-Identifier: Apache-2.0

/// \file
/// Converts local times of a log, written without a zone, to absolute times. A local clock shows an
/// hour twice when it is set back; run times and the order of events decide which one was meant.
#pragma once

#include <optional>

#include "text/time_zone.h"
#include "trace/intake.h"

namespace almanac::trace {

/// Reads the times of all jobs as local times of `zone`. For an hour that occurs twice, takes the
/// reading in which a job's start and end match its run time and its start is not before its
/// submission; otherwise the one in which ids rise with submission. Cost: about 300 ns per job.
void read_times_in(Trace& trace, const text::TimeZone& zone);

/// Reads the times of a Slurm log in `zone`, if given. Otherwise, if run times show that the clock
/// was changed, uses the rule of a zone that explains the changes, on the clock that the log starts
/// with, and adds a note. Run times take precedence over ends, and no wait is negative.
void settle_sacct_clock(Intake& intake, const std::optional<text::TimeZone>& zone);

}  // namespace almanac::trace
