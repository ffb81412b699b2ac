// SPDX-License-Identifier: Apache-2.0

/// \file
/// The consolidated placement, for placements that try it first.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "policy/contract/host.h"

namespace almanac::policy::placement {

/// Takes GPUs for `demand` on as few nodes as possible. Returns false if it changed nothing. O(GPUs
/// per node) for one node, O(nodes of the job) for several, and O(idle nodes) if switches are
/// known.
bool consolidate(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, const IsOn& is_on,
                 std::vector<cluster::Grant>& grants);
/// Does the same with at least two nodes.
bool consolidate_on_several(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
                            const IsOn& is_on, std::vector<cluster::Grant>& grants);

}  // namespace almanac::policy::placement
