// SPDX-License-Identifier: Apache-2.0

/// \file
/// How a running deployment becomes another one, GPU by GPU.
#pragma once

#include <vector>

#include "deployment/deployment.h"
#include "deployment/replay.h"

namespace almanac::deployment {

struct Transition {
  /// What runs from each step on; the last is the plan, with numbers of GPUs that exist.
  std::vector<Phase> phases{};
  /// Instances that are loaded on the way.
  int loads() const;
  /// Services may have less than both deployments give them meanwhile, because no GPU was free.
  bool interrupts = false;
};

/// Returns the steps from what runs in `now` to `plan`, from `at_ms` on. Numbers of GPUs in a plan
/// are interchangeable: each GPU of the plan takes the place of the running one that has most
/// copies in common with it and has room for what it adds. The others are created on free GPUs
/// before any instance is deleted. If GPUs are too few for that, old ones whose services have
/// enough elsewhere make room first, then the others. An instance answers `load_s` after its
/// creation. Batches and turns change when all have loaded. `plan` must pass check(). Cost: O(n^2)
/// checks of a GPU for n GPUs that hold other copies than before.
///
/// Source   Tan et al., 2021 (MIG-Serving), the controller: exchange (create before delete), then
///          compact.
/// Differs  Whole GPUs are exchanged, since a change of MIG instances needs their room anyway.
Transition transition(const PlanningCase& asked, const Phase& now, const Deployment& plan,
                      double at_ms);

}  // namespace almanac::deployment
