// SPDX-License-Identifier: Apache-2.0

/// \file
/// Synergy's rounds with the size `proportional`; combine with another order as in
/// `synergy_proportional+srtf`.
///
/// Source   Mohan et al., OSDI'22.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_synergy_proportional(Registry& registry) {
  registry.add_policy({.name = "synergy_proportional",
                       .summary = "rounds of 300 s, first come, first served; cores and memory in "
                                  "proportion to the job's GPUs",
                       .source = "Mohan et al. OSDI'22",
                       .size = "proportional",
                       .pass = "lease"});
}

}  // namespace almanac::policy::builtin
