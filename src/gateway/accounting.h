// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// The past: what accounting (slurmdbd) says of jobs that have ended.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "slurm/job.h"

namespace almanac::gateway {

/// Jobs that ended in [from, until), in order of end, some at a time; possibly none, as a sign of
/// life. False = stop.
using TakeJobs = std::function<bool(std::vector<slurm::Job>&& jobs)>;
/// Fails with unsupported where the site keeps no accounts.
Result<void> ended(Time from, Time until, const TakeJobs& take);

}  // namespace almanac::gateway
