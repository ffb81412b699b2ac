// SPDX-License-Identifier: Apache-2.0
#include "accounting/claims.h"

namespace almanac::accounting {

Claims::Claims(const manager::Limits& limits) : finder_(limits) {
  for (const manager::Quota& each : limits.quotas) {
    made_.book.add(each.gpus);
    if (each.gpus != manager::Quota::kAny) ++made_.limits;
  }
}

void Claims::add(store::JobNumber number, const manager::Job& job) {
  if (made_.limits == 0) return;
  const manager::QuotaFinder::Found& found = finder_.of(job);
  made_.claims[trace::JobKey{static_cast<std::uint64_t>(number)}] =
      made_.book.claim({.counted = found.counted, .asked = found.asked, .gpus = job.gpus});
}

}  // namespace almanac::accounting
