// SPDX-License-Identifier: Apache-2.0

/// \file
/// The true run time with errors of known size. See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_noisy(Registry& registry) {
  registry.estimates.add({.name = "noisy",
                          .summary = "the true run time with the error distribution of the paper",
                          .source = "Hu et al. SC'21 §4.2.3",
                          .traits = {.has = {Trait::told_truth}}},
                         [](const Parameters&, const History& history) {
                           return predict::make_noisy(history.log.jobs);
                         });
}

}  // namespace almanac::policy::estimate
