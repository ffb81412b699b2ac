// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Queries Slurm's accounting (slurmdbd) for jobs that have ended.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "manager/job.h"

namespace almanac::gateway {

/// Receives some of the jobs at a time, in order of their end; possibly none, to show that the
/// query still runs. Returns false to stop.
using TakeJobs = std::function<bool(std::vector<manager::Job>&& jobs)>;
/// Queries the jobs that ended in [from, until). Fails with unsupported if the site has no
/// accounting.
Result<void> ended(Time from, Time until, const TakeJobs& take);

}  // namespace almanac::gateway
