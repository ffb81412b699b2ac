// SPDX-License-Identifier: Apache-2.0

/// \file
/// A batch stays together until its last request is answered; later requests wait. With
/// Limits::gather, the first request of a batch waits for others.
///
/// Source   Yu et al., OSDI'22 (Orca), section 2: batches of requests, as in servers before Orca.
///          Crankshaw et al., NSDI'17 (Clipper), section 4.3.2: delayed batching.
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
    const auto most = static_cast<std::size_t>(replica.limits().sequences);
    if (replica.next() == nullptr) return;
    const Micros full_at = replica.arrival(*replica.next()) + replica.limits().gather;
    if (replica.waiting() < most && replica.now() < full_at) {
      replica.gather_until(full_at);
      return;
    }
    if (admit_prompts(replica, most, std::numeric_limits<std::int64_t>::max()) == 0) {
      decode_all(replica);
    }
  }
};

}  // namespace

void register_fixed(Registry& registry) {
  registry.formers.add(
      {.name = "fixed",
       .summary = "static batches: a batch stays together until all of it is answered",
       .source = "Yu et al. OSDI'22 §2, the servers before Orca",
       .make = [] { return std::make_unique<Fixed>(); }});
}

}  // namespace almanac::inference::former
