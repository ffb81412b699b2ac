// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of accounting for Link::ended(), whatever their source.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "slurm/types.h"

namespace almanac::slurm {

/// Keeps the jobs that ended in [from, until), in order of end, then of number and submission.
void keep_ended(std::vector<Job>& jobs, Time from, Time until);

/// Formats a time for sacct and slurmrestd: "uts1600000000".
std::string in_uts(Time time);

}  // namespace almanac::slurm
