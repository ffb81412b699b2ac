// SPDX-License-Identifier: Apache-2.0

/// \file
/// Conservative backfill: every waiting job holds a reservation.
///
/// Source   Mu'alem & Feitelson, TPDS 2001, section 2.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_conservative(Registry& registry) {
  registry.add_policy({.name = "conservative",
                       .summary = "first come, first served with conservative backfill: a job may "
                                  "start early if it delays no earlier job",
                       .source = "Mu'alem & Feitelson 2001 §2",
                       .estimate = "limit",
                       .pass = "conservative"});
}

}  // namespace almanac::policy::builtin
