// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes share an NVLink domain: GPUs that reach each other over NVLink or NVSwitch.
///
/// Source   NVIDIA, GB200 NVL72: 72 GPUs of 18 compute trays, one domain. An HGX board of 8 GPUs is
///          one too.
#pragma once

#include <vector>

#include "cluster/cluster.h"

namespace almanac::cluster {

/// Returns, for each node, the lowest-numbered node of its domain; empty if every node is a domain
/// of its own. O(nodes log racks).
std::vector<NodeId> nvlink_domains(const Cluster& cluster);

}  // namespace almanac::cluster
