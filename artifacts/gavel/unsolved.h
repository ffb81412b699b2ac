// SPDX-License-Identifier: Apache-2.0

/// \file
/// Allocations of the published programs that need no solver.
#pragma once

#include "rules/timeshare/problem.h"

namespace almanac::gavel {

/// Shockwave's version of Gandiva-fair: the same time for each job, whatever its size. Weights are
/// tickets.
timeshare::Fractions equal_time(const timeshare::Problem& problem);

/// Gavel's FIFO that knows speeds: gives each job in turn the fastest type that has room for it.
/// Stops at a job for which no type has room; skips jobs that run on none of the types with room.
timeshare::Fractions first_come(const timeshare::Problem& problem);

}  // namespace almanac::gavel
