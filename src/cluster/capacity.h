// SPDX-License-Identifier: Apache-2.0

/// \file
/// The size of a cluster whose virtual clusters grow and shrink.
#pragma once

#include "cluster/cluster.h"

namespace almanac::cluster {

struct Capacity {
  int nodes = 0;
  int gpus = 0;
};

/// Returns the most nodes, and the most GPUs, that exist at any one time. `Cluster::nodes` holds
/// the largest size of each virtual cluster; if one grows while another shrinks, not all of those
/// nodes exist together. O(changes).
Capacity most_at_once(const Cluster& cluster);

}  // namespace almanac::cluster
