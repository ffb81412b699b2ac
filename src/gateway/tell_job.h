// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// A job of libslurm as ours.
#pragma once

#include "gateway/owned.h"
#include "slurm/job.h"

namespace almanac::gateway {

slurm::Job tell(const slurm_job_info_t& info);

/// What a state, flags and all, says of how it ended.
trace::JobState outcome_of(std::uint32_t state);
/// Fills the fields of a job that say of which array it is.
void tell_array(std::uint32_t array, std::uint32_t task, const char* tasks, slurm::Job& job);

/// The name of a user, asked once each: directories of users are slow. Its number where the name is
/// not known.
std::string name_of(std::uint32_t uid);

/// Slurm counts in seconds, 0 = never.
Time moment(time_t seconds);
/// And limits in minutes.
Duration limit(std::uint32_t minutes);

}  // namespace almanac::gateway
