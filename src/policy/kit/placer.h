// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places a demand, which may be a part of a GPU, by a placement, which may know whole GPUs only.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "policy/slots.h"

namespace almanac::policy {

/// As place_demand(), of a part of a GPU by a placement that knows whole ones only. Instances that
/// one job asks are placed one by one, on the same GPU or not.
bool place_part(const Placement& placement, cluster::Ledger& ledger, VcId vc,
                const cluster::Demand& demand, Rng& rng, std::vector<cluster::Grant>& grants);

/// As Placement::place(). Where the placement does not place parts itself, a part of a GPU goes to
/// the fullest GPU that other jobs hold a part of and where it fits; else it opens one where the
/// placement says.
inline bool place_demand(const Placement& placement, cluster::Ledger& ledger, VcId vc,
                         const cluster::Demand& demand, Rng& rng,
                         std::vector<cluster::Grant>& grants) {
  const bool is_own = !demand.is_part() || placement.places_parts();
  return is_own ? placement.place(ledger, vc, demand, rng, grants)
                : place_part(placement, ledger, vc, demand, rng, grants);
}

}  // namespace almanac::policy
