// SPDX-License-Identifier: Apache-2.0

/// \file
/// Least predicted GPU time first, non-preemptive; predicted by a model that is learned as jobs
/// end.
///
/// Source   Hu et al., SC'21, section 4.2, Algorithm 1.
/// Differs  The paper adds a rolling estimate and a GBDT in seconds; here see predict/model.h.
///          `qssf+rolling` is the first alone (lambda = 1).
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_qssf(Registry& registry) {
  registry.add_policy({.name = "qssf",
                       .summary = "quasi-shortest-service-first: smallest predicted GPU time first",
                       .source = "Hu et al. SC'21 §4.2",
                       .estimate = "learned",
                       .order = "gpu_time"});
}

}  // namespace almanac::policy::builtin
