// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which GPUs a node has, and of which sockets they are: changed and told.
#pragma once

#include <vector>

#include "cluster/cluster.h"

namespace almanac::cluster {

/// Says of which sockets its GPUs are: by their number where they are as large as each other and
/// GPUs are numbered through, else by connections.
void set_sockets(NodeClass& make, const std::vector<std::vector<int>>& sockets);

/// The same node with its first `gpus` only, or with more of which nothing is told.
void set_gpus(NodeClass& make, int gpus);

/// All that is told of how its GPUs are connected: of sockets too that are as large as each other.
std::vector<Connection> told_connections(const NodeClass& make);

}  // namespace almanac::cluster
