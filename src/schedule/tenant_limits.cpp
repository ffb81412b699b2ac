// SPDX-License-Identifier: Apache-2.0
#include "schedule/tenant_limits.h"

#include <algorithm>
#include <cmath>

#include "cluster/ledger.h"

namespace almanac::schedule {
namespace {

double ceiling(const cluster::Tenant& tenant) {
  return tenant.may_borrow ? tenant.limit : std::min(tenant.limit, tenant.guarantee);
}

}  // namespace

TenantLimits::TenantLimits(const cluster::Cluster& cluster) : cluster_(cluster) {
  for (std::size_t at = 0; at < cluster.tenants.size(); ++at) {
    if (ceiling(cluster.tenants[at]) < cluster::Tenant::kNoLimit) limited_.push_back(at);
  }
}

double TenantLimits::most(std::uint32_t at) const {
  return ceiling(cluster_.tenants[limited_[at]]);
}

void TenantLimits::add_to(policy::Quotas& quotas) {
  first_ = quotas.size();
  for (std::uint32_t at = 0; at < limited_.size(); ++at) quotas.add(most(at));
}

std::vector<std::uint32_t> TenantLimits::of(TenantId tenant) const {
  std::vector<std::uint32_t> made;
  if (tenant == kNoTenant) return made;
  for (auto at = static_cast<std::int64_t>(index(tenant)); at >= 0;
       at = cluster_.tenants[static_cast<std::size_t>(at)].parent) {
    const auto found =
        std::lower_bound(limited_.begin(), limited_.end(), static_cast<std::size_t>(at));
    if (found == limited_.end() || *found != static_cast<std::size_t>(at)) continue;
    made.push_back(static_cast<std::uint32_t>(found - limited_.begin()));
  }
  return made;
}

void TenantLimits::put(JobId job, int gpus, std::int32_t gpu_milli, TenantId tenant,
                       policy::Quotas& quotas) const {
  const std::vector<std::uint32_t> own = of(tenant);
  if (own.empty()) return;
  policy::Quotas::Claim claim = quotas[quotas.of(job)];
  claim.gpus = gpus;
  claim.gpu_milli = gpu_milli;
  for (const std::uint32_t at : own) {
    claim.counted.push_back(first_ + at);
    claim.asked.push_back(first_ + at);
  }
  quotas.put(job, quotas.claim(claim));
}

std::optional<policy::Reason> TenantLimits::never(int gpus, std::int32_t gpu_milli,
                                                  TenantId tenant) const {
  const double asked = gpus * gpu_milli / double{cluster::kWholeGpu};
  double least = cluster::Tenant::kNoLimit;
  for (const std::uint32_t at : of(tenant)) least = std::min(least, most(at));
  if (asked <= least) return std::nullopt;
  return policy::Reason{.kind = policy::ReasonKind::over_limit,
                        .wanted = gpus,
                        .available = static_cast<std::int32_t>(std::floor(least))};
}

double TenantLimits::left(TenantId tenant, const policy::Quotas& quotas) const {
  double least = cluster::Tenant::kNoLimit;
  for (const std::uint32_t at : of(tenant)) {
    least = std::min(least, quotas.most(first_ + at) - quotas.held(first_ + at));
  }
  return least;
}

}  // namespace almanac::schedule
