// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leases of 20 minutes: a deadline is promised when a job comes, if its GPUs are there for enough
/// leases before it, and then kept; jobs without one, and those that cannot be promised theirs,
/// run on the rest, shortest remaining time first.
///
/// Source   Gao et al., SoCC'21 (Chronus): leases, admission, best effort on what is left. 20
///          minutes are the artifact's.
/// Differs  whether the leases fit is asked by filling them from the deadline backwards, as the
///          artifact's greedy way does, and not by an integer program (pledge_book.h); placement
///          is not searched (pass/pledged.cpp). Its profiler is not here: run times are believed
///          as the estimate says.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_chronus(Registry& registry) {
  registry.add_policy({.name = "chronus",
                       .summary = "leases of 20 min: accepts a deadline if enough leases are free "
                                  "and then guarantees it; other jobs share the rest",
                       .source = "Gao et al. SoCC'21 (Chronus)",
                       .order = "srtf",
                       .placement = "consolidate_first",
                       .pass = "deadline_leases"});
}

}  // namespace almanac::policy::builtin
