// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/sharers.h"

#include <algorithm>
#include <array>

#include "policy/kit/gpu_memory.h"
#include "policy/kit/rate_on.h"

namespace almanac::policy {

SharerKind SharerKinds::of(JobId job, const View& view) {
  const cluster::Demand& demand = view.demand(view.progress(job).demand);
  const SpeedModelId model = view.speeds == nullptr ? kNoSpeedModel : view.speeds->model(job);
  return {.gpus = demand.gpus,
          .gpu_types = demand.gpu_types,
          .model = models_.try_emplace(model, models_.size()).first->second,
          .gpu_memory_mb = gpu_memory_mb(std::array{job}, view)};
}

std::vector<SharerRate> rates_together(std::span<const JobId> jobs, int gpus, std::uint64_t type,
                                       VcId vc, const View& view, const cluster::Ledger& ledger) {
  const auto pools = ledger.pools(vc);
  // There is one type for each memory: Cluster::gpu_kinds().
  const auto pool = std::find_if(pools.begin(), pools.end(), [&](const cluster::Pool& each) {
    return each.gpu_type == type && each.gpus_per_node > 0;
  });
  std::vector<SharerRate> rates;
  if (pool == pools.end() || gpu_memory_mb(jobs, view) > pool->gpu_memory_mb) return rates;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    std::vector<JobId> others(jobs.begin(), jobs.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    rates.push_back({.beside = rate_on(jobs[at], gpus, type, vc, view, ledger, others),
                     .alone = rate_on(jobs[at], gpus, type, vc, view, ledger)});
  }
  return rates;
}

std::size_t pairs_that_share(std::span<const JobId> jobs, const View& view) {
  std::size_t count = 0;
  for (std::size_t one = 0; one < jobs.size(); ++one) {
    if (view.progress(jobs[one]).phase != Phase::running) continue;
    const cluster::Grant& held = view.grants(jobs[one]).front();
    for (std::size_t other = 0; other < one; ++other) {
      if (view.progress(jobs[other]).phase != Phase::running) continue;
      const cluster::Grant& its = view.grants(jobs[other]).front();
      count += held.node == its.node && held.gpus == its.gpus ? 1 : 0;
    }
  }
  return count;
}

}  // namespace almanac::policy
