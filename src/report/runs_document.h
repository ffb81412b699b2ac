// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report on several runs side by side, made of what they left on disk.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/run_directory.h"
#include "figure/document.h"
#include "report/run_comparison.h"

namespace almanac::report {

/// A run directory as it was read.
struct ReadRun {
  std::string path{};
  experiment::RunRecord record{};
  std::vector<experiment::Summary> summaries{};  ///< Policies named as the report shall name them.
  std::vector<Distribution> jct{};               ///< By policy, as `waits`.
  std::vector<Distribution> waits{};
};

/// Reads a run directory. `several` puts the run's path before the names of its policies, so that
/// those of several runs can stand in one table. O(jobs log jobs) a policy.
Result<ReadRun> read_whole_run(const std::string& path, bool several);

/// Policies of all runs side by side, and how their completion times and waits are distributed.
/// `command` is the command line. Needs a run.
figure::Document runs_document(const std::vector<ReadRun>& runs,
                               const std::vector<std::string>& command);

}  // namespace almanac::report
