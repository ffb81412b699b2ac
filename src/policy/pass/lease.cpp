// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rounds: at the end of each lease all GPU jobs are ranked again (kit/ranked_leases.h).
///
/// Source   Mohan et al., OSDI'22 (Synergy).
#include <memory>

#include "policy/kit/ranked_leases.h"
#include "policy/registry.h"

namespace almanac::policy::pass {

void register_lease(Registry& registry) {
  registry.passes.add(
      {.name = "lease",
       .summary = "ranks all jobs and reallocates all GPUs at every lease",
       .source = "Mohan et al. OSDI'22",
       .traits = {.has = {Trait::stops_jobs, Trait::leases, Trait::keeps_line, Trait::lets_join},
                  .bars = {Trait::revises_waiting}},
       .parameters = {number("lease_s", "length of a lease", 300, 1, 1e9)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<RankedLeases>(desk, told.duration("lease_s"), Duration{0});
      });
}

}  // namespace almanac::policy::pass
