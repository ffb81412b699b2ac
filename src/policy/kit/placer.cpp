// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/placer.h"

namespace almanac::policy {

bool place_part(const Placement& placement, cluster::Ledger& ledger, VcId vc,
                const cluster::Demand& demand, Rng& rng, std::vector<cluster::Grant>& grants) {
  if (const cluster::Grant found = ledger.find_part(vc, demand); found.gpus != 0) {
    ledger.take(found);
    grants.push_back(found);
    return true;
  }
  if (!placement.place(ledger, vc, demand, rng, grants)) return false;
  cluster::Grant& made = grants.back();
  ledger.give_back(
      {.node = made.node, .gpu_milli = cluster::kWholeGpu - demand.gpu_milli, .gpus = made.gpus});
  made.gpu_milli = demand.gpu_milli;
  return true;
}

}  // namespace almanac::policy
