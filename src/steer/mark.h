// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the mark of a job says (slurm/mark.h). It stays when the job is released. Slurm keeps it,
/// so that it is known whatever becomes of Almanac and its files.
#pragma once

#include <algorithm>
#include <string_view>

#include "slurm/job.h"
#include "slurm/mark.h"

namespace almanac::steer {

using slurm::kMark;
/// Slurm's word for why a job waits that its user holds.
inline constexpr std::string_view kHeldByUser = "JobHeldUser";

inline bool is_marked(const slurm::Job& job) { return job.comment.starts_with(kMark); }

/// Whether a waiting job may not start yet at `at` because of us alone.
inline bool is_leased(const slurm::Job& job, Time at) {
  const Time end = slurm::lease_end(job.comment);
  return end != kNoTime && end == job.eligible && end > at && !job.held;
}

/// Whether its lease would still stand, had not somebody else let it begin.
inline bool is_freed(const slurm::Job& job, Time at) {
  const Time end = slurm::lease_end(job.comment);
  return end != kNoTime && end > at && job.eligible <= at && !job.held;
}

/// Since when a job waits that nothing but its place in the queue keeps. Slurm forgets that of one
/// that we hold.
inline Time waits_since(const slurm::Job& job) {
  const bool is_told = job.eligible != kNoTime && !is_marked(job);
  return is_told ? std::max(job.submit, job.eligible) : job.submit;
}

/// Whether a job has waited at `at` for longer than `cap` although it could have run; never if
/// `cap` is kNoDuration.
inline bool is_aged(const slurm::Job& job, Time at, Duration cap) {
  return cap != kNoDuration && at - waits_since(job) > cap;
}

}  // namespace almanac::steer
