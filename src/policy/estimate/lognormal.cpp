// SPDX-License-Identifier: Apache-2.0

/// \file
/// The true run time times a random factor of any width. See predict/estimator.h.
#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_lognormal(Registry& registry) {
  registry.estimates.add(
      {.name = "lognormal",
       .summary = "the true run time times a log-normal factor: predictions of any quality",
       .source = "ours",
       .traits = {.has = {Trait::told_truth}},
       .parameters = {number("sigma",
                             "standard deviation of the logarithm of the factor; at 1, two thirds "
                             "of the estimates are within a factor of 2.7",
                             1, 0, 10)}},
      [](const Parameters& told, const History& history) {
        return predict::make_lognormal(history.log.jobs, told.number("sigma"));
      });
}

}  // namespace almanac::policy::estimate
