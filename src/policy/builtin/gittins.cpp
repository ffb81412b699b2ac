// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tiresias with predictions: a job that is likely to end within little GPU time goes first, and
/// yields if it does not.
///
/// Source   Gu et al., NSDI'19, section 3.2 (2D-Gittins).
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_gittins(Registry& registry) {
  registry.add_policy({.name = "gittins",
                       .summary = "lowest Gittins index of GPU time first, from learned run times; "
                                  "preempts jobs that run longer than expected",
                       .source = "Gu et al. NSDI'19 §3.2",
                       .estimate = "learned",
                       .order = "gittins",
                       .pass = "by_rank"});
}

}  // namespace almanac::policy::builtin
