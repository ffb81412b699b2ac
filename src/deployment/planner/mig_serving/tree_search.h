// SPDX-License-Identifier: Apache-2.0

/// \file
/// A search for the fewest GPUs that give services what they lack.
#pragma once

#include <optional>
#include <vector>

#include "base/rng.h"
#include "deployment/planner/mig_serving/mig_case.h"

namespace almanac::deployment::planner {

/// Returns the GPUs that follow `kept` in the smallest plan that was found; nothing if none of the
/// plans tried has fewer GPUs than `below`. Cost: `tries` random plans.
///
/// Source   Tan et al., 2021 (MIG-Serving), the slow algorithm: Monte Carlo tree search whose edges
///          are GPUs, at each node the ten with the highest scores. A random plan completes a new
///          node, each of its GPUs drawn from the best candidates.
/// Differs  A plan is worth the least possible number of GPUs divided by its own. Candidates of a
///          random plan are the three best.
std::optional<std::vector<ServedGpu>> tree_search(const MigCase& asked,
                                                  const std::vector<ServedGpu>& kept,
                                                  std::size_t below, int tries, Rng& rng);

}  // namespace almanac::deployment::planner
