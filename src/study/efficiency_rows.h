// SPDX-License-Identifier: Apache-2.0

/// \file
/// Allocated and used resources as rows and in words: by user, by job, and what jobs could request.
#pragma once

#include <string>
#include <vector>

#include "figure/rows.h"
#include "study/efficiency.h"
#include "study/right_size.h"

namespace almanac::study {

/// A row for each user, and what a reader must know of them.
figure::Listing user_use_rows(const std::vector<UserUse>& users, const Prices& prices);
inline constexpr const char* kUsersExplained =
    "Jobs of a minute or longer. Idle: share of the allocated time not used; \"-\" if not "
    "measured.\nAt 0 %: GPU-hours of jobs whose GPUs never computed. "
    "Memory used, limit used: medians over the jobs.\n";

/// Returns the GPU-hours whose GPUs never computed, of those measured and of all: a line; "" if no
/// job has GPUs.
std::string unused_gpus_in_words(const std::vector<UserUse>& users);

/// Returns where the GPU use comes from: a line if it is Slurm's last sample, "" otherwise.
std::string samples_in_words(const std::vector<JobUse>& jobs);

/// Returns the number of jobs with more processor time in accounting than their cores allow; "" for
/// none.
std::string doubts_in_words(const std::vector<JobUse>& jobs);

/// A row for each kind of job that could request less, and what a reader must know of them.
figure::Listing right_size_rows(const std::vector<RightSize>& sizes, const Prices& prices);
inline constexpr const char* kSizesExplained =
    "What was asked -> what would have been enough: a quarter more cores than the busiest job "
    "used on average,\na fifth more memory than any had, a quarter more time than the longest "
    "took. Averages hide peaks: try it first.\n";

/// A row for each job.
figure::Listing job_use_rows(const std::vector<JobUse>& jobs);
/// A job in lines with bars, and what jobs of its name could request. `colour`: for a terminal.
std::string use_in_words(const JobUse& job, const std::vector<RightSize>& sizes, bool colour);

/// Returns the smaller requests that would have been enough: "3 of 16 cores, 5 of 64 GB".
std::string enough_in_words(const RightSize& size);

}  // namespace almanac::study
