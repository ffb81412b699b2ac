// SPDX-License-Identifier: Apache-2.0

/// \file
/// MArk: the cheapest instances for a forecast.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_mark(Recipes& registry);

void register_mark(Recipes& registry) {
  registry.add(served("mark", "instances that MArk rents for a forecast",
                      "Zhang et al., ATC'19 (MArk)", Kind::rerun, inference::compare_mark));
}

}  // namespace almanac::reproduce
