// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tiresias without predictions: new jobs go first, long ones yield.
///
/// Source   Gu et al., NSDI'19, section 3 (discretized 2D-LAS).
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_las(Registry& registry) {
  registry.add_policy({.name = "las",
                       .summary = "least attained service (GPU time) first, in two queues; jobs in "
                                  "the second queue are preempted for the first",
                       .source = "Gu et al. NSDI'19 §3",
                       .order = "las",
                       .pass = "by_rank"});
}

}  // namespace almanac::policy::builtin
