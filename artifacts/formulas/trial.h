// SPDX-License-Identifier: Apache-2.0

/// \file
/// HiveD's guarantee, put to the test: random gangs of all virtual clusters and opportunistic ones,
/// and whether one ever waits that fits what its virtual cluster owns.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3.3 (safety).
#pragma once

#include <cstdint>

#include "cluster/cells/layout.h"

namespace almanac::cells {

struct Trial {
  std::int64_t fitting = 0;  ///< Guaranteed requests that fit what their virtual cluster owns.
  std::int64_t served = 0;   ///< Of these the ones that got leaves, after others gave way or not.
  std::int64_t wronged = 0;  ///< Guaranteed groups that had to go for another virtual cluster's.
  bool whole = false;        ///< When all had gone, all top cells were free again, unsplit.
};

/// Goes on until `requests` fitted; gives up after 50 times as many tries. All nodes are healthy.
Trial try_out(Cluster cluster, std::int64_t requests, std::uint64_t seed);

}  // namespace almanac::cells
