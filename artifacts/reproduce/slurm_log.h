// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replays the log of a real slurmctld: chooses the nodes of each start again, and predicts each
/// start that backfill planned.
///
/// The folder is one of `golden/slurm`: slurmctld.log.gz (DebugFlags=Backfill,TraceJobs),
/// sacct.txt, scontrol_jobs.txt and the files that describe the site.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "reproduce/slurm_scenario.h"
#include "site/site.h"

namespace almanac::reproduce {

/// Decisions of one kind that the log has, and those that Almanac makes alike.
struct Agreement {
  int all = 0;
  int equal = 0;
  std::vector<std::string> differences{};  ///< A line for each that differs.

  /// Adds a row to the bench; none if there is nothing to compare.
  void add_to(Bench& bench, const SlurmScenario& scenario, const std::string& what) const;
};

/// Returns the folder that a scenario was read from.
std::string folder_of(const SlurmScenario& scenario);

struct LogAgreement {
  Agreement node_lists{};     ///< Of all starts.
  Agreement cpus_per_node{};  ///< Of starts with equal nodes whose CPUs are recorded.
  Agreement planned_starts{};
  Agreement planned_nodes{};  ///< Of plans with equal starts.
};

/// Replays the log in `folder`. Fails as reading a file does.
Result<LogAgreement> replay_slurm_log(const std::string& folder, const site::Site& site);

}  // namespace almanac::reproduce
