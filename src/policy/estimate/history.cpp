// SPDX-License-Identifier: Apache-2.0

/// \file
/// The decaying mean of the user's jobs with the same name, or else with the same number of GPUs.
/// See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_history(Registry& registry) {
  registry.estimates.add({.name = "history",
                          .summary = "decaying mean of the user's jobs with the same name, or else "
                                     "with the same number of GPUs",
                          .source = "Hu et al. SC'21 §4.2"},
                         [](const Parameters&, const History&) { return predict::make_history(); });
}

}  // namespace almanac::policy::estimate
