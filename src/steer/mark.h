// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the mark of a job (manager/mark.h). The mark stays when the job is released. The manager
/// keeps it, so it survives the loss of Almanac's files.
#pragma once

#include <algorithm>
#include <string_view>

#include "manager/job.h"
#include "manager/mark.h"

namespace almanac::steer {

using manager::kMark;
/// Slurm's reason for a job held by its user.
inline constexpr std::string_view kHeldByUser = "JobHeldUser";

inline bool is_marked(const manager::Job& job) { return job.comment.starts_with(kMark); }

/// Whether only Almanac keeps a waiting job from starting at `at`.
inline bool is_leased(const manager::Job& job, Time at) {
  const Time end = manager::lease_end(job.comment);
  return end != kNoTime && end == job.eligible && end > at && !job.held;
}

/// Whether somebody else released it while its lease was in effect.
inline bool is_freed(const manager::Job& job, Time at) {
  const Time end = manager::lease_end(job.comment);
  return end != kNoTime && end > at && job.eligible <= at && !job.held;
}

/// Since when only its place in the queue keeps a job from starting. Slurm forgets this time for
/// jobs that Almanac holds.
inline Time waits_since(const manager::Job& job) {
  const bool is_told = job.eligible != kNoTime && !is_marked(job);
  return is_told ? std::max(job.submit, job.eligible) : job.submit;
}

/// Whether a job has waited at `at` for longer than `cap` although it could have run; never if
/// `cap` is kNoDuration.
inline bool is_aged(const manager::Job& job, Time at, Duration cap) {
  return cap != kNoDuration && at - waits_since(job) > cap;
}

}  // namespace almanac::steer
