// SPDX-License-Identifier: Apache-2.0

/// \file
/// Two-queue Tiresias, on the workloads of Pollux' simulator, job by job.
///
/// Source   Gu et al., NSDI'19, as Qiao et al., OSDI'21, section 5.3, compare with it.
#include "reproduce/recipe.h"
#include "reproduce/tick_runs.h"

namespace almanac::reproduce {

void register_tiresias(Recipes& registry);

void register_tiresias(Recipes& registry) {
  registry.add({.name = "tiresias",
                .summary = "completion times under Tiresias in Pollux' simulator",
                .paper = "Gu et al., NSDI'19; Qiao et al., OSDI'21, section 5.3",
                .kind = Kind::rerun,
                .needs = tick_needs(),
                .make = [](Bench& bench) {
                  compare_exactly(bench, "tiresias", [] { return elastic::make_tiresias(); });
                }});
}

}  // namespace almanac::reproduce
