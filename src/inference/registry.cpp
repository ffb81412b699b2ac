// SPDX-License-Identifier: Apache-2.0

#include "inference/registry.h"

namespace almanac::inference {

const Registry& registry() {
  static const Registry made = [] {
    Registry all;
    former::register_former(all);
    router::register_router(all);
    scaler::register_scaler(all);
    format::register_format(all);
    return all;
  }();
  return made;
}

}  // namespace almanac::inference
