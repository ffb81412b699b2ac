// SPDX-License-Identifier: Apache-2.0

/// \file
/// The run time that 90 % of such jobs stay below. See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_learned_90(Registry& registry) {
  registry.estimates.add({.name = "learned_90",
                          .summary = "learned 90th percentile of run time; suits easy",
                          .source = "Chernozhukov et al. PNAS 2021",
                          .traits = {.has = {Trait::reads_model}}},
                         [](const Parameters&, const History& history) {
                           return predict::make_learned_90(history.log.names, history.model);
                         });
}

}  // namespace almanac::policy::estimate
