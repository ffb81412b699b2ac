// SPDX-License-Identifier: Apache-2.0

/// \file
/// No sharing: a job that requests whole GPUs has them to itself.
#include "policy/registry.h"

namespace almanac::policy::packing {

void register_alone(Registry& registry) {
  registry.packings.add({"alone", "no sharing: a job that requests whole GPUs has them to itself",
                         "Hu et al. SC'21 §2.1"},
                        [](const Parameters&, Desk&, const MayShare&) { return nullptr; });
}

}  // namespace almanac::policy::packing
