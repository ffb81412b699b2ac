// SPDX-License-Identifier: Apache-2.0

/// \file
/// CODA: cores by feedback, throttling of CPU jobs that use up the memory bandwidth of GPU jobs,
/// and separate partitions of cores for both.
///
/// Each part also works alone: `fifo+adaptive`, `fifo+halve`, `fifo+arrays`.
///
/// Source   Zhao et al., ICDCS'20.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_coda(Registry& registry) {
  registry.add_policy(
      {.name = "coda",
       .summary = "tunes CPU cores by feedback; CPU jobs have a partition of cores of their own "
                  "and are throttled when they use too much memory bandwidth",
       .source = "Zhao et al. ICDCS'20 (CODA)",
       .size = "adaptive",
       .pass = "arrays",
       .throttle = "halve"});
}

}  // namespace almanac::policy::builtin
