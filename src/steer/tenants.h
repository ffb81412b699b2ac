// SPDX-License-Identifier: Apache-2.0

/// \file
/// The accounts of a managed cluster and their users as tenants: the fair share of each, and its
/// decayed usage.
///
/// Source   Slurm's fair tree: siblings share what their parent has by their shares; a user with
/// fairshare=parent has no part of its own and counts for its account.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "cluster/cluster.h"
#include "manager/job.h"
#include "manager/node.h"
#include "policy/contract/host.h"

namespace almanac::steer {

/// Owner of jobs: user "" for the whole account, partition "" for all others.
struct AccountOwner {
  std::string account{};
  std::string user{};
  std::string partition{};

  auto operator<=>(const AccountOwner&) const = default;
};
/// "science", "science/ann", "science/ann@debug".
std::string name_of(const AccountOwner& owner);
using TenantsByOwner = std::map<AccountOwner, TenantId>;

/// Returns tenants named after their owners, each guaranteed its share of `gpus`, and the tenant of
/// each association's jobs. The root is not a tenant. Empty if there are more than TenantId can
/// number.
std::pair<std::vector<cluster::Tenant>, TenantsByOwner> tenants_of(
    const std::vector<manager::Association>& associations, double gpus);

/// Returns the tenant of a job of `user` in `account` and one of `partitions` ("a,b"); kNoTenant if
/// none.
TenantId tenant_of(const TenantsByOwner& tenants, const std::string& account,
                   const std::string& user, const std::string& partitions);

/// The decayed usage at `at`, of each tenant without that of the tenants below it.
std::vector<policy::PastUse> past_use_of(const std::vector<manager::Association>& associations,
                                         const TenantsByOwner& tenants, Time at);

}  // namespace almanac::steer
