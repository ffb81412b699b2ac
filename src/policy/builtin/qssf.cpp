// SPDX-License-Identifier: Apache-2.0

/// \file
/// Least predicted GPU time first, non-preemptive, predicted from the user's own history.
///
/// Source   Hu et al., SC'21, section 4.2, Algorithm 1.
/// Differs  The rolling estimate alone (lambda = 1); the paper mixes it with a GBDT.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_qssf(Registry& registry) {
  registry.add_policy({.name = "qssf",
                       .summary = "quasi-shortest-service-first: least predicted GPU time first",
                       .source = "Hu et al. SC'21 §4.2",
                       .estimate = "history",
                       .order = "gpu_time"});
}

}  // namespace almanac::policy::builtin
