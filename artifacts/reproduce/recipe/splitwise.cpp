// SPDX-License-Identifier: Apache-2.0

/// \file
/// Splitwise: prompts and tokens on servers of their own.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_splitwise(Recipes& registry);

void register_splitwise(Recipes& registry) {
  registry.add(served("splitwise", "requests through the simulator of Splitwise, one by one",
                      "Patel et al., ISCA'24 (Splitwise)", Kind::rerun,
                      inference::compare_splitwise));
}

}  // namespace almanac::reproduce
