// SPDX-License-Identifier: Apache-2.0

/// \file
/// Synergy's rounds with the size `tune`; combine with another order as in `synergy_tune+srtf`.
///
/// Source   Mohan et al., OSDI'22.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_synergy_tune(Registry& registry) {
  registry.add_policy(
      {.name = "synergy_tune",
       .summary = "rounds of 300 s, first come, first served; extra cores and memory to jobs that "
                  "they speed up, no job below its proportional share",
       .source = "Mohan et al. OSDI'22",
       .size = "tune",
       .pass = "lease"});
}

}  // namespace almanac::policy::builtin
