// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whose a job is, for policies that are fair to owners: its tenant's, else its user's.
#pragma once

#include <cstddef>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// The position of a tenant in Cluster::tenants, or behind those the name of a user.
using Owner = std::size_t;

inline Owner owner_of(TenantId tenant, NameId user, const View& view) {
  if (tenant != kNoTenant) return index(tenant);
  return view.cluster.tenants.size() + index(user);
}
inline Owner owner_of(JobId job, const View& view) {
  return owner_of(view.progress(job).tenant, view.request(job).user, view);
}

/// What it is due beside others: the guarantee of a tenant, 1 for a user that is none.
inline double share_of(Owner owner, const View& view) {
  return owner < view.cluster.tenants.size() ? view.cluster.tenants[owner].guarantee : 1;
}

}  // namespace almanac::policy
