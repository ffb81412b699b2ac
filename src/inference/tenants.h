// SPDX-License-Identifier: Apache-2.0

/// \file
/// Results of a service by tenant.
#pragma once

#include <string>
#include <vector>

#include "inference/service.h"

namespace almanac::inference {

struct TenantSeen {
  std::string tenant{};
  Seen seen{};
  /// Fraction of the total compute time, 0 to 1. An iteration is divided among its requests by
  /// tokens.
  double gpu_share = 0;
};

/// Returns one entry for each tenant in the log, the one with the lowest attainment first; ties in
/// the order of the log. Empty if the log names no tenants. O(n log n).
std::vector<TenantSeen> by_tenant(const Requests& requests, const std::vector<Outcome>& outcomes,
                                  const Objective& objective);

}  // namespace almanac::inference
