// SPDX-License-Identifier: Apache-2.0

/// \file
/// Synergy's rounds with the size `opt`; combine with another order as in `synergy_opt+srtf`.
///
/// Source   Mohan et al., OSDI'22.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_synergy_opt(Registry& registry) {
  registry.add_policy({.name = "synergy_opt",
                       .summary = "rounds of 300 s, first come, first served; cores and memory by "
                                  "an optimal integer program, no job below its proportional share",
                       .source = "Mohan et al. OSDI'22",
                       .size = "opt",
                       .pass = "lease"});
}

}  // namespace almanac::policy::builtin
