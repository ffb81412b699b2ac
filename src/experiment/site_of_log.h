// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cluster of a log and what is known of its Slurm site.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cluster/cluster.h"
#include "site/site.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// Returns the cluster that `text` names, as site::read_cluster() does, or infers it from the log
/// if `text` is "". If the files of a site name no nodes (`scontrol show config` alone), the nodes
/// are inferred too, and each partition that jobs name has the nodes that its jobs used. `site`
/// gets the site; null if none is known. Fails as site::read_cluster() and infer() do.
Result<cluster::Cluster> read_cluster_of(const trace::Trace& log, const std::string& text,
                                         std::shared_ptr<const site::Site>* site);

}  // namespace almanac::experiment
