// SPDX-License-Identifier: Apache-2.0

/// \file
/// Batches decodes together with chunks of prompts, up to a token budget.
///
/// Source   vLLM v1's scheduler; Agrawal et al., OSDI'24 (Sarathi-Serve), section 4.
#include <algorithm>

#include "inference/registry.h"

namespace almanac::inference::former {
namespace {

class Chunked final : public Former {
 public:
  void form(Replica& replica) override {
    const Limits& limits = replica.limits();
    std::int32_t budget = limits.tokens - replica.grow_steady(limits.tokens);
    bool preempted = false;
    for (std::size_t each = replica.steady(); each < replica.run().size() && budget > 0; ++each) {
      std::int32_t tokens = 0;
      while ((tokens = compute_some(replica, replica.run()[each], budget)) == 0) {
        preempted = true;
        const bool itself = replica.run().size() == each + 1;
        replica.preempt_last();
        if (itself) return;
      }
      budget -= tokens;
    }
    if (preempted) return;
    while (budget > 0 && replica.next() != nullptr &&
           replica.run().size() < static_cast<std::size_t>(limits.sequences)) {
      const bool brings = replica.next()->ready > 0;
      const auto tokens = replica.admit(std::min(limits.chunk, budget));
      if (!tokens) return;
      budget -= brings ? compute_some(replica, replica.run().back(), budget) : *tokens;
    }
  }
  bool grows_steady() const override { return true; }

 private:
  /// Adds one token, or as much of a prompt as the budget allows. Returns the number of tokens; 0 =
  /// no block is free.
  static std::int32_t compute_some(Replica& replica, Replica::Slot slot, std::int32_t budget) {
    const Replica::Sequence& sequence = replica.at(slot);
    const std::int32_t tokens =
        sequence.prefilling()
            ? std::min({sequence.prompt - sequence.done, replica.limits().chunk, budget})
            : 1;
    return replica.grow(slot, tokens) ? tokens : 0;
  }
};

}  // namespace

void register_chunked(Registry& registry) {
  registry.formers.add({.name = "chunked",
                        .summary = "decodes first, then chunks of prompts, up to a token budget",
                        .source = "vLLM v1; Agrawal et al. OSDI'24 §4",
                        .make = [] { return std::make_unique<Chunked>(); }});
}

}  // namespace almanac::inference::former
