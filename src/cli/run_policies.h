// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates the policies of an experiment in parallel and writes the run directory.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/list_options.h"
#include "experiment/experiment.h"
#include "report/policy_runs.h"

namespace almanac::cli {

/// Runs every policy of `prepared` on `threads` threads (0 = all cores) with a progress bar. `out`
/// is the run directory, with its report.html where this build has a page; "" for none. What is
/// written does not depend on the number of threads.
Result<report::RunReport> run_policies(const experiment::Prepared& prepared, const std::string& out,
                                       int threads, const std::vector<std::string>& command);

/// Prints where a run and its report are; nothing for "".
void note_run(const std::string& out);

/// Prints a row for each summary, with notes on them.
Result<int> show_summaries(const std::vector<experiment::Summary>& summaries,
                           const ListOptions& list);

}  // namespace almanac::cli
