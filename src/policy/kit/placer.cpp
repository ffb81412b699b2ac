// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/placer.h"

#include <bit>

namespace almanac::policy {

namespace {

/// A part of one GPU.
bool place_one(const Placement& placement, cluster::Ledger& ledger, VcId vc,
               const cluster::Demand& demand, Rng& rng, std::vector<cluster::Grant>& grants) {
  if (const cluster::Grant found = ledger.find_part(vc, demand); found.gpus != 0) {
    ledger.take(found);
    grants.push_back(found);
    return true;
  }
  if (!placement.place(ledger, vc, demand, rng, grants)) return false;
  cluster::Grant& made = grants.back();
  ledger.give_back(made);
  made = *ledger.part_of(made.node, std::countr_zero(made.gpus), demand);
  ledger.take(made);
  return true;
}

}  // namespace

bool place_part(const Placement& placement, cluster::Ledger& ledger, VcId vc,
                const cluster::Demand& demand, Rng& rng, std::vector<cluster::Grant>& grants) {
  cluster::Demand one = demand;
  one.gpus = 1;
  const std::size_t before = ledger.mark();
  const std::size_t had = grants.size();
  for (int placed = 0; placed < demand.gpus; ++placed) {
    if (place_one(placement, ledger, vc, one, rng, grants)) continue;
    ledger.undo(before);
    grants.resize(had);
    return false;
  }
  return true;
}

}  // namespace almanac::policy
