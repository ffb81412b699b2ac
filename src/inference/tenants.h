// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the requests of each tenant saw of a service.
#pragma once

#include <string>
#include <vector>

#include "inference/service.h"

namespace almanac::inference {

struct TenantSeen {
  std::string tenant{};
  Seen seen{};
  /// Of all the time that replicas computed, 0 to 1: an iteration counts for those that are in it,
  /// by their tokens.
  double gpu_share = 0;
};

/// One for each tenant that the log names, the one of which the smallest part was served as asked
/// first; of equals as the log names them. None where it names none. O(n log n).
std::vector<TenantSeen> by_tenant(const Requests& requests, const std::vector<Outcome>& outcomes,
                                  const Objective& objective);

}  // namespace almanac::inference
