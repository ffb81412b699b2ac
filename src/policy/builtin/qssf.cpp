// SPDX-License-Identifier: Apache-2.0

/// \file
/// Smallest predicted GPU time first, without preemption. A model that learns as jobs end predicts
/// run times.
///
/// Source   Hu et al., SC'21, section 4.2, Algorithm 1.
/// Differs  The paper adds a rolling estimate and a GBDT in seconds; for this model see
///          predict/model.h. `qssf+rolling` is the rolling estimate alone (lambda = 1).
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
