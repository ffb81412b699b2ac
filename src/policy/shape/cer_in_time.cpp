// SPDX-License-Identifier: Apache-2.0

/// \file
/// The most cost-effective shape that still meets the deadline (in_time.h).
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6.
#include "policy/registry.h"
#include "policy/shape/in_time.h"

namespace almanac::policy::shape {

void register_cer_in_time(Registry& registry) {
  registry.shapes.add({"cer_in_time",
                       "the most cost-effective shape that still meets the deadline",
                       "Chen et al. TPDS'20 (GENIE) §6",
                       {.has = {Trait::reads_run_times, Trait::reads_deadlines, Trait::reads_speeds,
                                Trait::chooses_gpus, Trait::revises_waiting}}},
                      [](const Parameters&) { return std::make_unique<InTime<MoreEffective>>(); });
}

}  // namespace almanac::policy::shape
