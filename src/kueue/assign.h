// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds flavors for a workload, and whom it preempts for them.
///
/// Source   Kueue v0.19, pkg/scheduler/flavorassigner: flavorassigner.go, podset_reducer.go.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kueue/victims.h"
#include "kueue/world.h"

namespace almanac::kueue {

struct Nomination {
  Assignment assignment{};
  std::vector<Victim> victims{};
};

/// Tries the workload as if it were alone in this cycle, and with fewer pods if all do not fit and
/// it can do with fewer. The search for flavors goes on where the last one stopped, unless quota
/// may have become free since. `only` = just the flavors of that assignment.
/// Cost: O(flavors x resources) tries of victims.
Nomination nominate(World& world, Workload& workload, std::uint64_t cycle,
                    const Assignment* only = nullptr);

}  // namespace almanac::kueue
