// SPDX-License-Identifier: Apache-2.0

/// \file
/// The accounts of a Slurm cluster and their users as tenants: the fair share of each, and its
/// decayed usage in Slurm.
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
#include "policy/contract/host.h"
#include "slurm/job.h"
#include "slurm/node.h"

namespace almanac::steer {

/// Whose a job is: "" for the user = all of the account, for the partition = all but its own.
struct AccountOwner {
  std::string account{};
  std::string user{};
  std::string partition{};

  auto operator<=>(const AccountOwner&) const = default;
};
/// "science", "science/ann", "science/ann@debug".
std::string name_of(const AccountOwner& owner);
using TenantsByOwner = std::map<AccountOwner, TenantId>;

/// Tenants called by their owners, each guaranteed its part of `gpus`
/// by shares, and whose each association's jobs are. The root is none of them. None where there are
/// more than TenantId can tell apart.
std::pair<std::vector<cluster::Tenant>, TenantsByOwner> tenants_of(
    const std::vector<slurm::Association>& associations, double gpus);

/// The tenant of a job of `user` of `account` in one of `partitions` ("a,b"); kNoTenant = none.
TenantId tenant_of(const TenantsByOwner& tenants, const std::string& account,
                   const std::string& user, const std::string& partitions);

/// Slurm's decayed usage at `at`, of each tenant without that of the tenants below it.
std::vector<policy::PastUse> past_use_of(const std::vector<slurm::Association>& associations,
                                         const TenantsByOwner& tenants, Time at);

}  // namespace almanac::steer
