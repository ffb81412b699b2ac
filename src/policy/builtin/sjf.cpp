// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shortest job first by true run times: the oracle that QSSF is measured against.
///
/// Source   Hu et al., SC'21, section 4.2.3.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_sjf(Registry& registry) {
  registry.add_policy({.name = "sjf",
                       .summary = "shortest job first, by true run times; the first job that does "
                                  "not fit blocks all others",
                       .source = "Hu et al. SC'21 §4.2.3",
                       .order = "sjf"});
}

}  // namespace almanac::policy::builtin
