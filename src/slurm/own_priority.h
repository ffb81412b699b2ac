// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds pending jobs with a priority set by an administrator. Slurm does not report this for a
/// job, but its list of priority factors has such a job with a priority and no factors.
///
/// The list is read after the jobs. A job that is missing from it has started or ended in between,
/// and says nothing.
///
/// Source   As seen of Slurm 22.05.8: sprio, and direct_prio of slurm.h.
#pragma once

#include <set>
#include <vector>

#include "slurm/types.h"

namespace almanac::slurm {

/// Sets Job::own_priority of the pending jobs that are in `own`: the jobs listed with a priority
/// and no factors.
inline void tell_own_priorities(std::vector<Job>& jobs, const std::set<JobNumber>& own) {
  for (Job& job : jobs) {
    job.own_priority = job.state == State::pending && job.priority > 0 && own.contains(job.number);
  }
}

}  // namespace almanac::slurm
