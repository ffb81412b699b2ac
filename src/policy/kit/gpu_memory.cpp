// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/gpu_memory.h"

#include <algorithm>
#include <cmath>

namespace almanac::policy {

std::int32_t gpu_memory_mb(std::span<const JobId> jobs, const View& view) {
  double sum_gb = 0;
  for (const JobId job : jobs) {
    const float asked = view.request(job).gpu_memory_gb;
    if (!std::isnan(asked)) sum_gb += asked;
  }
  return cluster::memory_mb(sum_gb);
}

bool fits_gpu_memory(std::span<const cluster::Grant> held, std::span<const JobId> jobs,
                     const View& view, const cluster::Ledger& ledger) {
  const std::int32_t asked_mb = gpu_memory_mb(jobs, view);
  return std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
    return asked_mb <= ledger.pool(grant.node).gpu_memory_mb;
  });
}

}  // namespace almanac::policy
