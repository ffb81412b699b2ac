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

  /// Whether no tenant has a limit: then nothing else is to be asked.
  bool empty() const { return limited_.empty(); }
  /// One quota for each tenant that has a limit, behind those that are there.
  void add_to(policy::Quotas& quotas);
  /// Lets so many GPUs, or parts of each, which `job` asks count for the limits of `tenant` and of
  /// all above it too.
  void put(JobId job, int gpus, std::int32_t gpu_milli, TenantId tenant,
           policy::Quotas& quotas) const;
  /// That so many GPUs, or parts of one, are more than they are; nothing if they leave room for a
  /// job on these once all else has ended.
  std::optional<policy::Reason> never(int gpus, std::int32_t gpu_milli, TenantId tenant) const;
  /// GPUs that they leave now.
  double left(TenantId tenant, const policy::Quotas& quotas) const;

 private:
  /// Of a tenant and all above it, positions in limited_.
  std::vector<std::uint32_t> of(TenantId tenant) const;
  double most(std::uint32_t at) const;

  const cluster::Cluster& cluster_;
  std::vector<std::size_t> limited_;  // positions in Cluster::tenants
  std::uint32_t first_ = 0;           // of their quotas
};

}  // namespace almanac::schedule
