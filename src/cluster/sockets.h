// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes and reports the GPUs of a node and the sockets that they belong to.
#pragma once

#include <vector>

#include "cluster/cluster.h"

namespace almanac::cluster {

/// Sets the sockets of the GPUs: as a number of sockets if all are of one size and GPUs are
/// numbered in their order, otherwise as connections.
void set_sockets(NodeClass& make, const std::vector<std::vector<int>>& sockets);

/// Keeps only the first `gpus` GPUs, or adds GPUs without known connections.
void set_gpus(NodeClass& make, int gpus);

/// Returns all known connections of the GPUs, including those of evenly sized sockets.
std::vector<Connection> told_connections(const NodeClass& make);

}  // namespace almanac::cluster
