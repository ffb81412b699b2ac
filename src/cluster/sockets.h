// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes of which GPUs a node has, and of which sockets they are.
#pragma once

#include <vector>

#include "cluster/cluster.h"

namespace almanac::cluster {

/// Says of which sockets its GPUs are: by their number where they are as large as each other and
/// GPUs are numbered through, else by connections.
void set_sockets(NodeClass& make, const std::vector<std::vector<int>>& sockets);

/// The same node with its first `gpus` only, or with more of which nothing is told.
void set_gpus(NodeClass& make, int gpus);

}  // namespace almanac::cluster
