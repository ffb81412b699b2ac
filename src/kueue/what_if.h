// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes of ClusterQueues and Cohorts as users write them:
///
///   team-a.nominalQuota=16, team-a.borrowingLimit=none           GPUs of the queue's only flavor
///   team-a.h100.nominalQuota=16                                  of this flavor
///   team-a.h100.cpu.lendingLimit=500                             of another resource
///   team-a.queueingStrategy=StrictFIFO, team-a.weight=2, team-a.cohort=all
///   team-a.reclaimWithinCohort=Any, team-a.withinClusterQueue=LowerPriority
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kueue/setup.h"

namespace almanac::kueue {

struct Changed {
  std::string owner{};  ///< "ClusterQueue team-a"
  std::string what{};   ///< "nominalQuota of nvidia.com/gpu in flavor h100"
  std::string from{};
  std::string to{};
};

/// Applies changes between commas to `setup` and returns them. Fails with usage for an unknown
/// name, with the known ones, and for a value that Kueue would refuse; `setup` is then undefined.
Result<std::vector<Changed>> change(Setup& setup, std::string_view text);

}  // namespace almanac::kueue
