// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job of the service in the words and the columns in which Slurm's users know it.
#pragma once

#include <string>
#include <vector>

#include "figure/rows.h"
#include "serve/view_json.h"
#include "store/run_time.h"

namespace almanac::cli {

/// "PD", "R", "CG" where it was told to end, "CD", "F", "CA", "TO", "NF", "PR".
std::string short_state(const store::Job& job);
/// "2", "0.5", "1..8" where it leaves that open.
std::string gpus_text(const store::Submission& asked);
/// The same of one that does not run, or holds what it asks; else how many it holds.
std::string gpus_text(const serve::ListedJob& job);
/// When it is expected to start, or has; "-" = that is not known. `end` likewise; "never" of a
/// service.
std::string start_text(const service::JobView& view, Time now);
std::string end_text(const service::JobView& view, Time now);
/// "starts between 13:05:00 and 14:20:00 (90 %), ends by 18:10:00 with 90 %".
std::string in_words(const service::Expected& expected, Time now);
std::string in_words(const service::WithGpus& other, Time now);
/// Of a job that runs: "ends between 17:20:00 and 18:40:00 (90 %)".
std::string end_in_words(const service::Expected& expected, Time now);
/// "runs at 0.61: cores 0.66, power 0.93 (as bert); its GPUs wait for data 34 % of the time".
std::string in_words(const service::Pace& pace);

/// What a list of jobs is for: the queue shows when jobs start and end and why they wait, the other
/// what has become of them.
enum class JobList { queue, past };
figure::Listing job_rows(const std::vector<serve::ListedJob>& jobs, Time now, JobList list);

}  // namespace almanac::cli
