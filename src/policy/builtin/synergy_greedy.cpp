// SPDX-License-Identifier: Apache-2.0

/// \file
/// Synergy's rounds with the size `greedy`; combine with another order as in `synergy_greedy+srtf`.
///
/// Source   Mohan et al., OSDI'22.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_synergy_greedy(Registry& registry) {
  registry.add_policy({.name = "synergy_greedy",
                       .summary = "rounds of 300 s, first come, first served; each job waits for "
                                  "all cores and memory that speed it up",
                       .source = "Mohan et al. OSDI'22",
                       .size = "greedy",
                       .pass = "lease"});
}

}  // namespace almanac::policy::builtin
