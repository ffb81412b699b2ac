// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places a demand, which may be a part of a GPU, with a placement that may know only whole GPUs.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "policy/slots.h"

namespace almanac::policy {

/// As place_demand(), for a part of a GPU with a placement that knows only whole ones. Several
/// instances of one job are placed one by one, on the same GPU or not.
bool place_part(const Placement& placement, cluster::Ledger& ledger, VcId vc,
                const cluster::Demand& demand, Rng& rng, std::vector<cluster::Grant>& grants);

/// As Placement::place(). If the placement does not place parts itself, a part of a GPU goes to the
/// fullest partly used GPU on which it fits, or else to a new GPU that the placement chooses.
inline bool place_demand(const Placement& placement, cluster::Ledger& ledger, VcId vc,
                         const cluster::Demand& demand, Rng& rng,
                         std::vector<cluster::Grant>& grants) {
  const bool is_own = !demand.is_part() || placement.places_parts();
  return is_own ? placement.place(ledger, vc, demand, rng, grants)
                : place_part(placement, ledger, vc, demand, rng, grants);
}

}  // namespace almanac::policy
