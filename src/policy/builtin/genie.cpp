// SPDX-License-Identifier: Apache-2.0

/// \file
/// Least slack first: the job that must start soonest comes first, each in the cheapest shape that
/// still meets its deadline.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6, Algorithm 1.
/// Differs  Chooses shapes again when the choice changes, not at each event, with the same
///          decisions. Head of line first is `genie+strict`: the text allows both readings, and
///          only this one gives its makespans.
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
