// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is simulated: the log as it is, with more users, and without some nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "capacity/resize.h"
#include "experiment/experiment.h"

namespace almanac::capacity {

/// A log on a cluster of which nodes are lost.
struct Case {
  std::string name{};    ///< "as logged", "20 % more users", "without rack r1".
  std::string detail{};  ///< A sentence for the user; "" if the name says it all.
  std::shared_ptr<const experiment::Prepared> prepared{};
  std::vector<int> lost{};  ///< Nodes out of service, by group of groups_of().
};

struct Subject {
  std::vector<Case> cases{};    ///< The first is the log as it is.
  std::vector<Group> groups{};  ///< Of the cluster of all cases.
  /// Nodes of each group that the largest job that ran needs; at least 1.
  std::vector<int> least{};
  std::vector<std::string> notes{};  ///< For the user.

  const experiment::Prepared& log() const { return *cases.front().prepared; }
};

struct WhatIf {
  double growth = 0.2;        ///< Additional users, as a fraction of the GPU time; 0 for no such
                              ///< case.
  std::optional<int> lose{};  ///< Nodes lost; nothing for the largest rack, if racks are known; 0
                              ///< for no such case.
  bool of_each_partition = false;  ///< Whether each virtual cluster loses `lose` nodes.
};

/// Reads the log and the cluster of `experiment`, and prepares all cases. Without policies, the
/// first one is the Slurm of the site, or `easy` if none is known, and the second one `almanac`.
/// Fails as experiment::prepare() does, and with `unsupported` if tenants own cells of the cluster,
/// or if a policy reads the site and nodes of it have GPUs of several types.
Result<Subject> load(const experiment::Experiment& experiment, const WhatIf& what_if);

/// Same for a given log and cluster. `site` is the Slurm site that the cluster was made from; null
/// for none.
Result<Subject> prepare(const experiment::Experiment& experiment, trace::Trace log,
                        cluster::Cluster cluster, const WhatIf& what_if,
                        std::shared_ptr<const site::Site> site = nullptr);

/// Position of a virtual cluster for each job of a run; kNoVc for jobs that are not simulated, that
/// never ran, and that cannot run on the cluster.
std::vector<VcId> vcs_of_jobs(const experiment::Prepared& prepared);

}  // namespace almanac::capacity
