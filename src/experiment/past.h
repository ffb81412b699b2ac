// SPDX-License-Identifier: Apache-2.0

/// \file
/// The past jobs of a site, and their quota claims: everything needed to simulate its past.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "policy/contract/quotas.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// A site's quotas as they are today, and what the jobs of its log claim of them.
struct SiteQuotas {
  policy::Quotas book{};
  /// Number of them with a GPU limit; the others only separate associations.
  std::int64_t limits = 0;
  std::unordered_map<trace::JobKey, ClaimId> claims{};

  /// For a simulation of `jobs`.
  policy::Quotas of(const std::vector<trace::Job>& jobs) const;
};

struct Past {
  trace::Trace log{};
  SiteQuotas quotas{};
  /// Jobs of services that no policy takes anything from (policy::Keeping).
  std::unordered_set<trace::JobKey> kept{};
};

}  // namespace almanac::experiment
