// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shortest waiting allowance first: each job in the cheapest shape that still keeps its promise,
/// and the job that must start soonest first.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6, Algorithm 1.
/// Differs  shapes are chosen again when the choice changes, not at each event; that decides alike.
///          Head of line first is `genie+strict`: the text allows both readings, and only this one
///          gives its makespans.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_genie(Registry& registry) {
  registry.add_policy(
      {.name = "genie",
       .summary = "least slack to the deadline first, in the cheapest shape that meets it",
       .source = "Chen et al. TPDS'20 (GENIE) §6",
       .order = "allowance",
       .shape = "cer_in_time",
       .pass = "scan"});
}

}  // namespace almanac::policy::builtin
