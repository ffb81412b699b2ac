// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shockwave: believes how long a job has left by the batches that it has seen, and buys each job
/// rounds on a market (rules/timeshare/market.h).
///
/// Source   Zheng et al., NSDI'23 (Shockwave), sections 4 to 6, and its published program: the
///          window, how beliefs are formed, calibrated and averaged.
/// Differs  as rules/timeshare/market.h says.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gavel/rule.h"
#include "rules/timeshare/market.h"

namespace almanac::gavel {

/// A job's epochs as they were profiled.
struct EpochProfile {
  int samples = 0;                ///< In an epoch.
  std::vector<int> batches{};     ///< By epoch.
  std::vector<double> seconds{};  ///< By epoch; above 0.
};

/// `profiles` by number of the job, each with an epoch at least; `batches` by kind; of `window` all
/// but its GPUs. For clusters of one type.
std::unique_ptr<Rule> make_shockwave(std::map<int, EpochProfile> profiles,
                                     std::map<std::size_t, int> batches,
                                     const timeshare::Window& window);

}  // namespace almanac::gavel
