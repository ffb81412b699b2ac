// SPDX-License-Identifier: Apache-2.0

/// \file
/// Queries all variants, which vote with learned weights. Late answers do not count.
///
/// Source   Crankshaw et al., NSDI'17 (Clipper), section 5.2; bandit.h.
#include "deployment/registry.h"

namespace almanac::deployment::chooser {
namespace {

class AllByWeights final : public Chooser {
 public:
  explicit AllByWeights(std::size_t variants) : variants_(variants), weights_(variants) {}
  std::vector<std::size_t> ask(Rng&) override {
    std::vector<std::size_t> all(variants_);
    for (std::size_t each = 0; each < variants_; ++each) all[each] = each;
    return all;
  }
  int answer(std::span<const Label> said) override {
    return weights_.combine(labels_of(said)).label;
  }
  void learn(std::span<const std::size_t>, std::span<const Label> said, int right) override {
    weights_.learn(labels_of(said), right);
  }

 private:
  static std::vector<int> labels_of(std::span<const Label> said) {
    std::vector<int> made;
    for (const Label& each : said) made.push_back(each.label);
    return made;
  }
  std::size_t variants_;
  Exp4 weights_;
};

}  // namespace

void register_exp4(Registry& registry) {
  registry.choosers.add({.name = "exp4",
                         .summary = "all variants, weighted by how often each was right",
                         .source = "Crankshaw et al. NSDI'17 §5.2",
                         .make = {.make = [](const ChooserCase& told) -> std::unique_ptr<Chooser> {
                                    return std::make_unique<AllByWeights>(told.variants.size());
                                  },
                                  .needs_answers = true}});
}

}  // namespace almanac::deployment::chooser
