// SPDX-License-Identifier: Apache-2.0

/// \file
/// A batch stays together until its last request is answered; what comes meanwhile waits.
///
/// Source   Yu et al., OSDI'22 (Orca), section 2: batches of requests, as servers before it.
#include <limits>

#include "inference/former/steps.h"
#include "inference/registry.h"

namespace almanac::inference::former {
namespace {

class Fixed final : public Former {
 public:
  void form(Replica& replica) override {
    if (!replica.run().empty()) {
      decode_all(replica);
      return;
    }
    admit_prompts(replica, static_cast<std::size_t>(replica.limits().sequences),
                  std::numeric_limits<std::int64_t>::max());
  }
};

}  // namespace

void register_fixed(Registry& registry) {
  registry.formers.add({.name = "fixed",
                        .summary = "a batch stays together until all of it is answered",
                        .source = "Yu et al. OSDI'22 §2, the servers before Orca",
                        .make = [] { return std::make_unique<Fixed>(); }});
}

}  // namespace almanac::inference::former
