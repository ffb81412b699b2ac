// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets tenants hold no more GPUs than they may, whatever the policy: their limits are quotas.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/cluster.h"
#include "policy/contract/quotas.h"
#include "policy/contract/reason.h"

namespace almanac::schedule {

class TenantLimits {
 public:
  /// A tenant that may not borrow may hold its guarantee at most. `cluster` must outlive it.
  explicit TenantLimits(const cluster::Cluster& cluster);

  /// Whether no tenant has a limit. If so, no other function need be called.
  bool empty() const { return limited_.empty(); }
  /// Adds one quota for each tenant with a limit, after the existing ones.
  void add_to(policy::Quotas& quotas);
  /// Counts this number of GPUs, or parts of each, requested by `job` against the limits of
  /// `tenant` and all tenants above it.
  void put(JobId job, int gpus, std::int32_t gpu_milli, TenantId tenant,
           policy::Quotas& quotas) const;
  /// Returns the reason if this number of GPUs, or parts of one, exceeds a limit even on an
  /// otherwise idle cluster; otherwise nothing.
  std::optional<policy::Reason> never(int gpus, std::int32_t gpu_milli, TenantId tenant) const;
  /// GPUs that they leave now.
  double left(TenantId tenant, const policy::Quotas& quotas) const;

 private:
  /// Positions in limited_ of a tenant and all tenants above it.
  std::vector<std::uint32_t> of(TenantId tenant) const;
  double most(std::uint32_t at) const;

  const cluster::Cluster& cluster_;
  std::vector<std::size_t> limited_;  // positions in Cluster::tenants
  std::uint32_t first_ = 0;           // of their quotas
};

}  // namespace almanac::schedule
