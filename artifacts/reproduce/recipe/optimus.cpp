// SPDX-License-Identifier: Apache-2.0

/// \file
/// Optimus with the truth as its estimates, on the workloads of Pollux' simulator, job by job.
///
/// Source   Peng et al., EuroSys'18, as Qiao et al., OSDI'21, section 5.3, compare with it.
#include "reproduce/recipe.h"
#include "reproduce/tick_runs.h"

namespace almanac::reproduce {

void register_optimus(Recipes& registry);

void register_optimus(Recipes& registry) {
  registry.add({.name = "optimus",
                .summary = "completion times under Optimus in Pollux' simulator",
                .paper = "Peng et al., EuroSys'18; Qiao et al., OSDI'21, section 5.3",
                .kind = Kind::rerun,
                .needs = tick_needs(),
                .make = [](Bench& bench) {
                  compare_exactly(bench, "optimus", [] { return elastic::make_optimus(); });
                }});
}

}  // namespace almanac::reproduce
