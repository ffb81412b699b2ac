// SPDX-License-Identifier: Apache-2.0

/// \file
/// The predictor whose decisions were best lately. See predict/proven.h.
#include "predict/proven.h"

#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_proven(Registry& registry) {
  registry.estimates.add(
      {.name = "proven",
       .summary = "limit, past runs, training steps or a trained model, whichever ordered recent "
                  "jobs best; orders by the mean, reserves by the limit",
       .source = "Rothkopf 1966; Smith 1956",
       .traits = {.has = {Trait::reads_model}}},
      [](const Parameters&, const History& history) {
        return predict::make_proven(history.log.names, history.model);
      });
}

}  // namespace almanac::policy::estimate
