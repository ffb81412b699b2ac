// SPDX-License-Identifier: Apache-2.0

/// \file
/// Like `history`, but a new job name uses the user's most similar name. See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_rolling(Registry& registry) {
  registry.estimates.add(
      {.name = "rolling",
       .summary = "like history, but a new job name uses the user's most similar name",
       .source = "Hu et al. SC'21 §4.2"},
      [](const Parameters&, const History& history) {
        return predict::make_rolling(history.log.names);
      });
}

}  // namespace almanac::policy::estimate
