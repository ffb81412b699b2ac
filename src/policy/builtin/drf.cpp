// SPDX-License-Identifier: Apache-2.0

/// \file
/// Dominant resource fairness among users: a baseline of CODA.
///
/// Source   Ghodsi et al., NSDI'11.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_drf(Registry& registry) {
  registry.add_policy({.name = "drf",
                       .summary = "dominant resource fairness: user with the smallest dominant "
                                  "share of GPUs, cores and memory first",
                       .source = "Ghodsi et al. NSDI'11",
                       .pass = "users"});
}

}  // namespace almanac::policy::builtin
