// SPDX-License-Identifier: Apache-2.0

/// \file
/// How large a cluster is whose virtual clusters grow and shrink.
#pragma once

#include "cluster/cluster.h"

namespace almanac::cluster {

struct Capacity {
  int nodes = 0;
  int gpus = 0;
};

/// The most nodes, and the most GPUs, that are there at one time. Cluster::nodes has the most that
/// each virtual cluster ever has; where one grows as another shrinks, these were never there
/// together. O(changes).
Capacity most_at_once(const Cluster& cluster);

}  // namespace almanac::cluster
