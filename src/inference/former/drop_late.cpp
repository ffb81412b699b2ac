// SPDX-License-Identifier: Apache-2.0

/// \file
/// First come, first served. Rejects requests that can no longer be in time.
///
/// Source   Shen et al., SOSP'19 (Nexus), section 6.3: early drop. Prompts run whole while decodes
///          wait.

#include "inference/former/steps.h"
#include "inference/registry.h"

namespace almanac::inference::former {
namespace {

class DropLate final : public Former {
 public:
  void form(Replica& replica) override {
    drop_late(replica);
    const auto room = static_cast<std::size_t>(replica.limits().sequences) - replica.run().size();
    if (admit_prompts(replica, room, replica.limits().tokens) == 0) decode_all(replica);
  }
};

}  // namespace

void register_drop_late(Registry& registry) {
  registry.formers.add(
      {.name = "drop_late",
       .summary =
           "first come, first served; rejects requests that can no longer meet the objective",
       .source = "Shen et al. SOSP'19 §6.3",
       .make = [] { return std::make_unique<DropLate>(); }});
}

}  // namespace almanac::inference::former
