// SPDX-License-Identifier: Apache-2.0

/// \file
/// In the most cost-effective of the shapes that still meet the deadline (in_time.h).
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6.
#include "policy/registry.h"
#include "policy/shape/in_time.h"

namespace almanac::policy::shape {

void register_cer_in_time(Registry& registry) {
  registry.add_shape({"cer_in_time", "the most cost-effective shape that still meets the deadline",
                      "Chen et al. TPDS'20 (GENIE) §6"},
                     [](const Composition&) { return std::make_unique<InTime<MoreEffective>>(); });
}

}  // namespace almanac::policy::shape
