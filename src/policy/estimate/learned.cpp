// SPDX-License-Identifier: Apache-2.0

/// \file
/// Boosted trees and nearest past jobs. See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_learned(Registry& registry) {
  registry.estimates.add({.name = "learned",
                          .summary = "boosted trees and nearest past jobs, retrained every week",
                          .source = "Hu et al. SC'21 §4.2",
                          .traits = {.has = {Trait::reads_model}}},
                         [](const Parameters&, const History& history) {
                           return predict::make_learned(history.log.names, history.model);
                         });
}

}  // namespace almanac::policy::estimate
