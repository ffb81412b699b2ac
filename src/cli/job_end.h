// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waits for jobs to end, and says how they did and where their logs are.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "serve/client.h"
#include "serve/view_json.h"

namespace almanac::cli {

/// "job 17 has ended: FAILED, exit status 3, after 00:01:07; its log: /home/ann/almanac-17.out".
std::string end_in_words(const serve::ListedJob& job);

/// What a command returns that waited for the job, as sbatch(1) with --wait: the exit status of the
/// job's command; 1 if a signal or the scheduler ended it.
int exit_status_of(const store::Job& job);

/// Waits until the job has ended, also while its service begins anew.
Result<serve::ListedJob> await_end(serve::Client& client, store::JobNumber number);

/// Waits until all have ended, and says on stderr how: of an array, the tasks that did not end well
/// and how many did. Returns the highest exit status.
Result<int> await_ends(serve::Client& client, const std::vector<store::JobNumber>& numbers);

}  // namespace almanac::cli
