// SPDX-License-Identifier: Apache-2.0

/// \file
/// A Slurm site as a cluster for simulations of any policy.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cluster/cluster.h"
#include "site/site.h"

namespace almanac::site {

/// Returns the cluster of a site: a virtual cluster for each partition, or one for partitions that
/// share nodes ("debug+gpu"), with their priority tier if the partitions of each have the same one;
/// switches as racks; and accounts with a limit of GPUs (GrpTRES) as tenants, with their users.
///
/// Cluster::notes say what a cluster cannot express. Fails with `invalid` if no node has a GPU.
/// Cost: O(nodes x partitions).
Result<cluster::Cluster> cluster_of(const Site& site, const std::string& path);

/// Reads what cluster::read_cluster() reads, and a Slurm site (site/read.h): a folder of its files,
/// slurm.conf, or the output of scontrol. `site` gets the site, null if `text` describes none.
Result<cluster::Cluster> read_cluster(const std::string& text,
                                      std::shared_ptr<const Site>* site = nullptr);

}  // namespace almanac::site
