// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"

#include "policy/registry.h"

namespace almanac::policy::published {
void register_pass(Registry& registry);
}

namespace almanac::passes {

void install() {
  static const bool kInstalled = [] {
    policy::extend_registry(policy::published::register_pass);
    return true;
  }();
  static_cast<void>(kInstalled);
}

}  // namespace almanac::passes
