// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/rate_on.h"

#include <algorithm>
#include <vector>

#include "policy/kit/kinds.h"

namespace almanac::policy {

double rate_on(JobId job, int gpus, std::uint64_t type, VcId vc, const View& view,
               const cluster::Ledger& ledger, std::span<const JobId> beside) {
  cluster::Demand demand = view.demand(view.progress(job).demand);
  demand.gpu_types = type;
  std::vector<cluster::Grant> grants;
  const bool fits = by_kind(ledger.pools(vc), demand, [&](Kinds kinds) {
    grants.clear();
    int left = gpus;
    for (const cluster::Pool* const pool : kinds) {
      for (const NodeId node : pool->nodes) {
        const int here = std::min(left, pool->gpus_per_node);
        if (here == 0) break;
        const cluster::Amount amount = demand.of(here);
        const cluster::GpuMask all = ~cluster::GpuMask{0};
        grants.push_back({.node = node,
                          .gpus = all >> (cluster::kMaxGpusPerNode - here),
                          .cpu_milli = amount.cpu_milli,
                          .memory_mb = amount.memory_mb});
        left -= here;
      }
    }
    return left == 0;
  });
  return fits ? view.speeds->pace(job, grants, beside).rate : 0;
}

}  // namespace almanac::policy
