// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places jobs whose GPUs must share NVLink domains (Demand::nvlink_gpus), and leaves the others to
/// another placement. The registry wraps every placement in it, so all policies honor the groups.
#pragma once

#include <memory>
#include <vector>

#include "policy/slots.h"

namespace almanac::policy {

/// The other placement's choice counts if the GPUs that it takes of each domain are whole groups.
/// Otherwise the groups go to the fullest domain with room for all of them; if none has, the domain
/// with most room fills up first, and so on. Within a domain a job takes few nodes in the same way:
/// all GPUs of a domain are equally near. It finds room whenever the free GPUs of one type make
/// enough groups.
///
/// Source   Slurm's topology/block with --segment: a job is made of segments, each in one block.
/// Differs  Slurm counts nodes, this counts GPUs; the choice of domains is our own best fit.
/// Cost     O(nodes) for each such job
std::unique_ptr<Placement> make_nvlink_placement(std::unique_ptr<Placement> other);

/// Does the same without another placement: takes GPUs for `demand`, which has groups, and appends
/// them to `grants`. Returns false if it changed nothing.
bool place_groups(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
                  std::vector<cluster::Grant>& grants);

/// Returns the most free GPUs of one type that make whole groups of `demand` in `vc`. O(nodes).
int free_in_groups(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand);

}  // namespace almanac::policy
