// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report on several runs, made of their run directories.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/run_directory.h"
#include "figure/document.h"
#include "report/run_comparison.h"

namespace almanac::report {

/// Contents of a run directory.
struct ReadRun {
  std::string path{};
  experiment::RunRecord record{};
  std::vector<experiment::Summary> summaries{};  ///< With policies named as in the report.
  std::vector<Distribution> jct{};               ///< By policy, like `waits`.
  std::vector<Distribution> waits{};
};

/// Reads a run directory. `several` puts the run's path before the names of its policies, so that
/// one table can show several runs. O(jobs log jobs) per policy.
Result<ReadRun> read_whole_run(const std::string& path, bool several);

/// Compares the policies of all runs, with the distributions of their completion times and waits.
/// `command` is the command line. Requires at least one run.
figure::Document runs_document(const std::vector<ReadRun>& runs,
                               const std::vector<std::string>& command);

}  // namespace almanac::report
