// SPDX-License-Identifier: Apache-2.0

/// \file
/// Queries one random variant per request, more often the more often it was right. A late answer
/// counts as wrong.
///
/// Source   Crankshaw et al., NSDI'17 (Clipper), section 5.1; bandit.h.
#include "deployment/registry.h"

namespace almanac::deployment::chooser {
namespace {

class OneByWeights final : public Chooser {
 public:
  explicit OneByWeights(std::size_t variants) : weights_(variants) {}
  std::vector<std::size_t> ask(Rng& rng) override { return {weights_.choose(rng)}; }
  int answer(std::span<const Label> said) override {
    for (const Label& each : said) {
      if (each.label != Exp4::kLate) return each.label;
    }
    return Exp4::kLate;
  }
  void learn(std::span<const std::size_t> asked, std::span<const Label> said, int right) override {
    weights_.learn(asked.front(), said[asked.front()].label == right ? 0 : 1);
  }

 private:
  Exp3 weights_;
};

}  // namespace

void register_exp3(Registry& registry) {
  registry.choosers.add({.name = "exp3",
                         .summary = "one variant, chosen more often the more often it was right",
                         .source = "Crankshaw et al. NSDI'17 §5.1; Auer et al. 2002",
                         .make = {.make = [](const ChooserCase& told) -> std::unique_ptr<Chooser> {
                                    return std::make_unique<OneByWeights>(told.variants.size());
                                  },
                                  .needs_answers = true}});
}

}  // namespace almanac::deployment::chooser
