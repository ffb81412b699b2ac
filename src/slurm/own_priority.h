// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds pending jobs with a priority set by an administrator. Slurm does not report this for a
/// job, but its list of priority factors has none for such jobs.
///
/// Source   As seen of Slurm 22.05.8: of the jobs that wait, are eligible and are not held, sprio
///          shows these with a priority and nothing that it is made of (direct_prio of slurm.h).
#pragma once

#include <set>
#include <vector>

#include "slurm/job.h"

namespace almanac::slurm {

/// Sets Job::own_priority by the jobs whose priority Slurm works out, as of `at`.
inline void tell_own_priorities(std::vector<Job>& jobs, const std::set<JobNumber>& worked_out,
                                Time at) {
  for (Job& job : jobs) {
    const bool would_be_told = job.state == State::pending && job.priority > 0 &&
                               job.eligible != kNoTime && job.eligible < at;
    job.own_priority = would_be_told && !worked_out.contains(job.number);
  }
}

}  // namespace almanac::slurm
