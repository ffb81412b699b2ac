// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs whole prompts as soon as they fit; decodes wait meanwhile.
///
/// Source   vLLM v0's default scheduler (Kwon et al., SOSP'23, section 4.5).
#include <algorithm>

#include "inference/former/steps.h"
#include "inference/registry.h"

namespace almanac::inference::former {
namespace {

class PrefillFirst final : public Former {
 public:
  void form(Replica& replica) override {
    const Limits& limits = replica.limits();
    // The watermark keeps a hundredth of the blocks for what runs to grow into. Where nothing runs
    // there is nothing that grows.
    const std::int32_t watermark = replica.run().empty() ? 0 : limits.kv_blocks / 100;
    std::int32_t budget = limits.tokens;
    bool prefills = false;
    while (replica.next() != nullptr &&
           replica.run().size() < static_cast<std::size_t>(limits.sequences)) {
      const Replica::Sequence& next = *replica.next();
      const std::int32_t whole = next.ready > 0 ? 0 : next.prompt;
      // A prompt beyond the budget of any iteration runs alone.
      if (whole > budget && (prefills || budget < limits.tokens)) break;
      const auto tokens = replica.admit(std::max(whole, 1), prefills ? watermark : 0);
      if (!tokens) break;
      budget -= *tokens;
      prefills = prefills || *tokens > 0;
    }
    if (prefills) return;
    decode_all(replica);
  }
};

}  // namespace

void register_prefill_first(Registry& registry) {
  registry.formers.add({.name = "prefill_first",
                        .summary = "whole prompts as soon as they fit, while decodes wait",
                        .source = "vLLM v0; Kwon et al. SOSP'23 §4.5",
                        .make = [] { return std::make_unique<PrefillFirst>(); }});
}

}  // namespace almanac::inference::former
