// SPDX-License-Identifier: Apache-2.0
#include "schedule/shortage.h"

#include <algorithm>
#include <cstdint>

#include "policy/kit/nvlink_placement.h"

namespace almanac::schedule {

using policy::ReasonKind;

void name_nvlink(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& wanted,
                 policy::Reason& reason) {
  if (wanted.nvlink_gpus == 0) return;
  reason.kind = ReasonKind::nvlink_busy;
  reason.available = policy::free_in_groups(ledger, vc, wanted);
}

void name_part(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& wanted,
               policy::Reason& reason) {
  if (!wanted.is_part() || wanted.profile != slices::kNoProfile) return;
  std::int32_t milli = 0;
  std::int32_t memory_mb = 0;  // next to enough compute
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(wanted)) continue;
    if (pool.free_gpus > 0) return;  // something else is lacking
    if (!pool.open.empty()) milli = std::max(milli, pool.open.rbegin()->free_milli);
    for (auto at = pool.open.lower_bound({.free_milli = wanted.gpu_milli}); at != pool.open.end();
         ++at) {
      memory_mb = std::max(memory_mb, ledger.free_gpu_memory_mb(pool.nodes[at->member], at->gpu));
    }
  }
  if (milli < wanted.gpu_milli) {
    reason.kind = ReasonKind::short_of_gpu_part;
    reason.wanted = wanted.gpu_milli;
    reason.available = milli;
  } else if (memory_mb < wanted.gpu_memory_mb) {
    reason.kind = ReasonKind::short_of_gpu_memory;
    reason.wanted = wanted.gpu_memory_mb;
    reason.available = memory_mb;
  }
}

}  // namespace almanac::schedule
