// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits the sequences by additive increase and multiplicative decrease: one more after each
/// iteration in time, a tenth fewer after a late one.
///
/// Source   Crankshaw et al., NSDI'17 (Clipper), section 4.3. The objective is the time per token.
#include <algorithm>

#include "inference/former/steps.h"
#include "inference/registry.h"

namespace almanac::inference::former {
namespace {

class Aimd final : public Former {
 public:
  void form(Replica& replica) override {
    // The iteration that has just ended began when the last batch was formed.
    const Micros took = replica.now() - began_;
    if (computed_ && replica.run().size() + kSlack >= limit_) {
      if (took > replica.limits().per_token) {
        limit_ = std::max<std::size_t>(1, limit_ * 9 / 10);
      } else if (limit_ < static_cast<std::size_t>(replica.limits().sequences)) {
        ++limit_;
      }
    }
    began_ = replica.now();
    computed_ = !replica.run().empty();
    const std::size_t room = limit_ - std::min(limit_, replica.run().size());
    if (admit_prompts(replica, room, replica.limits().tokens) > 0) {
      // How long a prompt takes says nothing of how many sequences decode in time.
      computed_ = false;
      return;
    }
    decode_all(replica);
  }

 private:
  /// An iteration that was not nearly full says nothing about the limit.
  static constexpr std::size_t kSlack = 1;
  std::size_t limit_ = 1;
  Micros began_ = 0;
  bool computed_ = false;
};

}  // namespace

void register_aimd(Registry& registry) {
  registry.formers.add({.name = "aimd",
                        .summary = "additive increase, multiplicative decrease: one more sequence "
                                   "while decodes are in time, a tenth fewer after a miss",
                        .source = "Crankshaw et al. NSDI'17 §4.3",
                        .make = [] { return std::make_unique<Aimd>(); }});
}

}  // namespace almanac::inference::former
