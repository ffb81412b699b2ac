// SPDX-License-Identifier: Apache-2.0

#include "deployment/registry.h"

namespace almanac::deployment {

const Registry& registry() {
  static const Registry made = [] {
    Registry all;
    planner::register_planner(all);
    dispatcher::register_dispatcher(all);
    chooser::register_chooser(all);
    return all;
  }();
  return made;
}

}  // namespace almanac::deployment
