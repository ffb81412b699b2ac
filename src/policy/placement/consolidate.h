// SPDX-License-Identifier: Apache-2.0

/// \file
/// The consolidated placement, for placements that try it first.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "policy/contract/host.h"

namespace almanac::policy::placement {

/// Takes GPUs for `demand` on as few nodes as possible; false = changed nothing. O(GPUs per node)
/// for one node, O(nodes of the job) for several, and where switches are told O(idle nodes).
bool consolidate(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, const IsOn& is_on,
                 std::vector<cluster::Grant>& grants);
/// The same where no node is to have all of them.
bool consolidate_on_several(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
                            const IsOn& is_on, std::vector<cluster::Grant>& grants);

}  // namespace almanac::policy::placement
