// SPDX-License-Identifier: Apache-2.0

/// \file
/// The true run time. See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_oracle(Registry& registry) {
  registry.estimates.add({.name = "oracle",
                          .summary = "the true run time, known only in simulations of past logs",
                          .source = "Hu et al. SC'21 §4.2.3",
                          .traits = {.has = {Trait::told_truth}}},
                         [](const Parameters&, const History& history) {
                           return predict::make_oracle(history.log.jobs);
                         });
}

}  // namespace almanac::policy::estimate
