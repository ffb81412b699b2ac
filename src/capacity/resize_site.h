// SPDX-License-Identifier: Apache-2.0

/// \file
/// A Slurm site with a different number of nodes.
#pragma once

#include "cluster/cluster.h"
#include "site/site.h"

namespace almanac::capacity {

/// Returns the site with the nodes of `cluster`, a resized() cluster of the site. A copy of a node
/// is in the partitions and below the switch of its original, after all originals, but in none of
/// its reservations, and never out of service. Limits, weights and shares are kept.
/// Cost: O(nodes x partitions).
site::Site resized(const site::Site& site, const cluster::Cluster& cluster);

}  // namespace almanac::capacity
