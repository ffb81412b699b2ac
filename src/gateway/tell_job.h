// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Converts jobs of libslurm to manager::Job.
#pragma once

#include "gateway/owned.h"
#include "manager/job.h"

namespace almanac::gateway {

manager::Job tell(const slurm_job_info_t& info);

/// Returns how a job with this state, including its flags, ended.
trace::JobState outcome_of(std::uint32_t state);
/// Fills the fields of `job` about its array.
void tell_array(std::uint32_t array, std::uint32_t task, const char* tasks, manager::Job& job);

/// Returns the name of a user, or the number if there is no name. Looks each up only once, because
/// user directories are slow.
std::string name_of(std::uint32_t uid);

/// Converts Slurm's seconds; 0 = never.
Time moment(time_t seconds);
/// Converts Slurm's time limits, which are in minutes.
Duration limit(std::uint32_t minutes);

}  // namespace almanac::gateway
