// SPDX-License-Identifier: Apache-2.0

/// \file
/// The user's time limit. See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_limit(Registry& registry) {
  registry.estimates.add({.name = "limit",
                          .summary = "the user's time limit, or history for jobs without one",
                          .source = "Mu'alem & Feitelson 2001"},
                         [](const Parameters&, const History&) { return predict::make_limit(); });
}

}  // namespace almanac::policy::estimate
