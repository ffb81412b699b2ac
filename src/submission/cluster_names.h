// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares the names in a submission with what a cluster has: its virtual clusters, QOS and GPU
/// types.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "store/job.h"

namespace almanac::submission {

/// Fails with `usage` if the submission names a virtual cluster or QOS that is missing from the
/// cluster's list, a GPU type that no node has, or a QOS that its user may not use; also if there
/// are several virtual clusters and it names none. The error lists what exists. Nodes that are
/// down or drained count, because they may come back.
Result<void> check_names(const store::Submission& asked, const cluster::Cluster& cluster);

/// Returns a note for each name that has no effect because the cluster lists none of its kind.
std::vector<std::string> notes_on_labels(const store::Submission& asked,
                                         const cluster::Cluster& cluster);

}  // namespace almanac::submission
