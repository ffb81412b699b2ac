// SPDX-License-Identifier: Apache-2.0

/// \file
/// Batches 1, 2, 4, 8 or 16 prompts, as many as leave the oldest in time.
///
/// Source   Gujarati et al., OSDI'20 (Clockwork), section 5.3. Decodes, which its models do not
///          have, run whenever no prompt does.
#include <algorithm>

#include "inference/former/steps.h"
#include "inference/registry.h"

namespace almanac::inference::former {
namespace {

class Clockwork final : public Former {
 public:
  void form(Replica& replica) override {
    drop_late(replica);
    constexpr std::size_t kLargest = 16;
    const auto room = static_cast<std::size_t>(replica.limits().sequences) - replica.run().size();
    if (replica.next() == nullptr || room == 0) {
      decode_all(replica);
      return;
    }
    const Micros due = replica.arrival(*replica.next()) + replica.limits().first_token;
    std::size_t batch = 1;
    while (2 * batch <= std::min({kLargest, room, replica.waiting()}) &&
           (due == kNever || replica.now() + replica.prompts_take(2 * batch) <= due)) {
      batch *= 2;
    }
    if (admit_prompts(replica, batch, replica.limits().tokens) == 0) decode_all(replica);
  }
};

}  // namespace

void register_clockwork(Registry& registry) {
  registry.formers.add(
      {.name = "clockwork",
       .summary = "largest batch of prompts that still meets the deadline of the oldest",
       .source = "Gujarati et al. OSDI'20 §5.3",
       .make = [] { return std::make_unique<Clockwork>(); }});
}

}  // namespace almanac::inference::former
