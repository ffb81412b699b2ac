// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs of the service in the words and columns that Slurm users know.
#pragma once

#include <string>
#include <vector>

#include "figure/rows.h"
#include "serve/view_json.h"
#include "store/run_time.h"

namespace almanac::cli {

/// "PD", "R", "CG" while it is being stopped, "CD", "F", "CA", "TO", "NF", "PR".
std::string short_state(const store::Job& job);
/// "9,994 bytes lost, the log lacks them"; "" if none are.
std::string lost_text(std::int64_t bytes);
/// "2", "0.5", or "1..8" for a range.
std::string gpus_text(const store::Submission& asked);
/// GPUs held by a running elastic job; for other jobs the request.
std::string gpus_text(const serve::ListedJob& job);
/// Actual or expected start; "-" = unknown. end_text() likewise; "never" for a service.
std::string start_text(const service::JobView& view, Time now);
std::string end_text(const service::JobView& view, Time now);
/// "starts between 13:05:00 and 14:20:00 (90 %), ends by 18:10:00 (95 %)".
std::string in_words(const service::Expected& expected, Time now);
std::string in_words(const service::WithGpus& other, Time now);
/// For a running job: "ends between 17:20:00 and 18:40:00 (90 %)".
std::string end_in_words(const service::Expected& expected, Time now);
/// "runs at 0.61: cores 0.66, power 0.93 (as bert); its GPUs wait for data 34 % of the time".
std::string in_words(const service::Pace& pace);

/// Purpose of a list of jobs: the queue shows expected starts and ends and why jobs wait, the
/// history how they ended.
enum class JobList { queue, past };
figure::Listing job_rows(const std::vector<serve::ListedJob>& jobs, Time now, JobList list);

}  // namespace almanac::cli
