// SPDX-License-Identifier: Apache-2.0

/// \file
/// Meets as many deadlines as it can: the cheapest that can still be met first, each in a shape
/// that suits the free GPUs. Only late jobs may pass the first of these jobs, and they give way
/// again.
///
/// Source   Our own; docs/guide/qos.md compares it. Shapes: Chen et al., TPDS'20 (GENIE), section
///          6.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_promise(Registry& registry) {
  registry.add_policy(
      {.name = "promise",
       .summary =
           "cheapest deadlines that can still be met first, in shapes that suit the free GPUs",
       .source = "docs/guide/qos.md",
       .order = "promise",
       .shape = "by_room",
       .pass = "late"});
}

}  // namespace almanac::policy::builtin
