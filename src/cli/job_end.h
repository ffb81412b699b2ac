// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waits for jobs to end, and describes how they ended and where their logs are.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "serve/client.h"
#include "serve/view_json.h"

namespace almanac::cli {

/// "job 17 has ended: FAILED, exit status 3, after 00:01:07; log: /home/ann/almanac-17.out".
std::string end_in_words(const serve::ListedJob& job);

/// Returns the exit status of a command that waits for the job, as sbatch --wait does: that of the
/// job's command; 1 if a signal or the scheduler ended it.
int exit_status_of(const store::Job& job);

/// Waits until the job has ended, also across restarts of the service.
Result<serve::ListedJob> await_end(serve::Client& client, store::JobNumber number);

/// Waits until all jobs have ended and prints on stderr how; for an array, the failed tasks and how
/// many succeeded. Returns the highest exit status.
Result<int> await_ends(serve::Client& client, const std::vector<store::JobNumber>& numbers);

}  // namespace almanac::cli
