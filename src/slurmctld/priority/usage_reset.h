// SPDX-License-Identifier: Apache-2.0

/// \file
/// When all usage is set to 0 (PriorityUsageResetPeriod).
///
/// Source   Slurm 22.05 to 25.11, priority_multifactor.c: _next_reset().
#pragma once

#include "base/time.h"
#include "site/config.h"
#include "text/time_zone.h"

namespace almanac::slurmctld {

/// Returns the first reset after `last` by `period`: midnight in `zone` of the next day, Sunday,
/// month, quarter or year. kNever for `none` and `now`.
Time next_usage_reset(site::UsageReset period, Time last, const text::TimeZone& zone);

}  // namespace almanac::slurmctld
