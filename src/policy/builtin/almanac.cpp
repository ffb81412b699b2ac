// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy that Almanac recommends: least expected GPU time first, backfill with a reservation,
/// dense placement, stops where jobs may be stopped, and a bound on each wait.
///
/// Source   ours; docs/policy.md explains it and says what each part brings.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_almanac(Registry& registry) {
  registry.add_policy({.name = "almanac",
                       .summary =
                           "least expected GPU time first with backfill; stops jobs that may "
                           "be stopped if that pays; a job that waits much longer than under easy "
                           "goes first",
                       .source = "ours",
                       .estimate = "proven",
                       .order = "index",
                       .placement = "best_fit",
                       .pass = "preempt"});
}

}  // namespace almanac::policy::builtin
