// SPDX-License-Identifier: Apache-2.0

/// \file
/// EASY backfill, the common default of HPC centers.
///
/// Source   Lifka, JSSPP'95; Mu'alem & Feitelson, TPDS 2001.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_easy(Registry& registry) {
  registry.add_policy({.name = "easy",
                       .summary = "first come, first served with EASY backfill: short jobs fill "
                                  "the gap before the first blocked job",
                       .source = "Lifka JSSPP'95",
                       .estimate = "limit",
                       .pass = "easy"});
}

}  // namespace almanac::policy::builtin
