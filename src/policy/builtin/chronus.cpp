// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leases of 20 minutes. When a job arrives, its deadline is accepted if its GPUs are free for
/// enough leases before it, and then guaranteed. Jobs without a deadline, and those that are not
/// accepted, run on the rest, shortest remaining time first.
///
/// Source   Gao et al., SoCC'21 (Chronus): leases, admission, best effort on the rest. 20 minutes
///          are the artifact's.
/// Differs  Checks whether the leases fit by filling them backwards from the deadline, as the
///          artifact's greedy method does, not by an integer program (pledge_book.h). Does not
///          search placements (pass/pledged.cpp). Has no profiler: run times come from the
///          estimate.
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
