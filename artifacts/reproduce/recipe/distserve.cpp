// SPDX-License-Identifier: Apache-2.0

/// \file
/// DistServe: prefills and decodes apart.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_distserve(Recipes& registry);

void register_distserve(Recipes& registry) {
  registry.add(served("distserve", "requests through the simulator of DistServe, one by one",
                      "Zhong et al., OSDI'24 (DistServe)", Kind::rerun,
                      inference::compare_distserve));
}

}  // namespace almanac::reproduce
