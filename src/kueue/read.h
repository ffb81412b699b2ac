// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads flavors, cohorts and queues as `kubectl get clusterqueues,cohorts,resourceflavors -o json`
/// prints them.
///
/// Source   Kueue, API v1beta1 and v1beta2.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kueue/setup.h"

namespace almanac::kueue {

struct Objects {
  Setup setup{};
  /// Fields that have a value and no effect here, a sentence each.
  std::vector<std::string> not_modelled{};
  /// ClusterQueues with an admissionScope: past usage counts there before priorities.
  std::set<std::string> ordered_by_usage{};
};

/// Reads a list of objects, or one object. Kinds other than ResourceFlavor, Cohort and ClusterQueue
/// are passed over. No object says whether fair sharing is on: Setup::is_fair stays false.
/// Error: no JSON, no ClusterQueue, a value that Kueue would refuse, or check_setup().
Result<Objects> parse_objects(std::string_view json);
/// Reads a file; errors have its name. Also .gz and .zst.
Result<Objects> read_objects(const std::string& path);

}  // namespace almanac::kueue
