// SPDX-License-Identifier: Apache-2.0

/// \file
/// First come, first served: Helios' production policy.
///
/// Source   Hu et al., SC'21, section 2.1.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_fifo(Registry& registry) {
  registry.add_policy(
      {.name = "fifo",
       .summary = "first come, first served; the first job that does not fit blocks all others",
       .source = "Hu et al. SC'21 §2.1"});
}

}  // namespace almanac::policy::builtin
