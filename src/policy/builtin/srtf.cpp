// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shortest remaining time first by true run times: the preemptive oracle.
///
/// Source   Hu et al., SC'21, section 4.2.3.
/// Differs  Stops a job only for one that starts in its place; `--profile helios` counts GPUs as
///          the published simulator does.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_srtf(Registry& registry) {
  registry.add_policy(
      {.name = "srtf",
       .summary = "shortest remaining time first, by true run times; preempts longer jobs",
       .source = "Hu et al. SC'21 §4.2.3",
       .order = "srtf",
       .pass = "by_rank"});
}

}  // namespace almanac::policy::builtin
