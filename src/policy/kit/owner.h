// SPDX-License-Identifier: Apache-2.0

/// \file
/// The owner of a job for policies that are fair to owners: its tenant, or else its user.
#pragma once

#include <cstddef>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// The index of a tenant in Cluster::tenants, or after those the name of a user.
using Owner = std::size_t;

inline Owner owner_of(TenantId tenant, NameId user, const View& view) {
  if (tenant != kNoTenant) return index(tenant);
  return view.cluster.tenants.size() + index(user);
}
inline Owner owner_of(JobId job, const View& view) {
  return owner_of(view.progress(job).tenant, view.request(job).user, view);
}

/// Returns the share of an owner relative to others: the guarantee of a tenant, 1 for a user
/// without one.
inline double share_of(Owner owner, const View& view) {
  return owner < view.cluster.tenants.size() ? view.cluster.tenants[owner].guarantee : 1;
}

}  // namespace almanac::policy
