// SPDX-License-Identifier: Apache-2.0
#include "steer/quotas.h"

#include <algorithm>

#include <fmt/format.h>

namespace almanac::steer {
namespace {

int gpus_of(const manager::Job& job) {
  int made = 0;
  for (const manager::Held& held : job.holds) made += held.gpu_count;
  return made;
}

/// Slurm counts no job that has ended, though its nodes are still being cleaned.
bool counts(const manager::Job& job) { return job.state != manager::State::completing; }

}  // namespace

Quotas::Quotas(const Mirror& mirror) : limits_(mirror.limits()), finder_(limits_) {
  for (const manager::Quota& each : limits_.quotas) book_.add(each.gpus);
  if (empty()) return;
  for (const auto& [number, job] : mirror.jobs()) {
    if (holds_nodes(job)) hold(job, gpus_of(job));
  }
}

void Quotas::hold(const manager::Job& job, int gpus) {
  if (empty() || !counts(job)) return;
  for (const std::uint32_t quota : finder_.of(job).counted) book_.hold(quota, gpus);
}

ClaimId Quotas::claim(const manager::Job& job) {
  if (empty() || !counts(job)) return kNoClaim;
  const manager::QuotaFinder::Found& found = finder_.of(job);
  return book_.claim({.counted = found.counted, .asked = found.asked, .gpus = job.gpus});
}

void Quotas::put(JobId id, const manager::Job& job) {
  if (!empty()) book_.put(id, claim(job));
}

std::string Quotas::tightest(const manager::Job& job) {
  const std::vector<std::uint32_t>& asked = finder_.of(job).asked;
  const auto left = [&](std::uint32_t quota) { return book_.most(quota) - book_.held(quota); };
  const std::uint32_t least =
      *std::min_element(asked.begin(), asked.end(),
                        [&](std::uint32_t a, std::uint32_t b) { return left(a) < left(b); });
  return fmt::format("{} has {} of {} GPUs", manager::whose(limits_.quotas[least]),
                     book_.held(least), book_.most(least));
}

}  // namespace almanac::steer
