// SPDX-License-Identifier: Apache-2.0

/// \file
/// Queries a fast variant first, and a better one if the first is unsure.
///
/// Source   Halpern et al., ISPASS'19 (Tolerance Tiers); Wang et al., EuroSys'23 (Tabi); cascade.h.
#include "deployment/registry.h"

namespace almanac::deployment::chooser {
namespace {

class InTurn final : public Chooser {
 public:
  explicit InTurn(const ChooserCase& told)
      : way_(cheapest_cascade(told.variants, told.answers, told.tolerance)) {}
  std::vector<std::size_t> may_ask() const override {
    if (!way_.second) return {way_.first};
    return {way_.first, *way_.second};
  }
  std::vector<std::size_t> ask(Rng&) override { return {way_.first}; }
  std::optional<std::size_t> ask_more(std::span<const Label> said) override {
    const Label& first = said[way_.first];
    const bool is_sure = first.label == Exp4::kLate || first.confidence >= way_.threshold;
    return is_sure ? std::nullopt : way_.second;
  }
  int answer(std::span<const Label> said) override {
    const bool second = way_.second && said[*way_.second].label != Exp4::kLate;
    return said[second ? *way_.second : way_.first].label;
  }

 private:
  Cascade way_;
};

}  // namespace

void register_cascade(Registry& registry) {
  registry.choosers.add({.name = "cascade",
                         .summary = "a fast variant, and a better one when it is unsure",
                         .source = "Halpern et al. ISPASS'19; Wang et al. EuroSys'23",
                         .make = {.make = [](const ChooserCase& told) -> std::unique_ptr<Chooser> {
                                    return std::make_unique<InTurn>(told);
                                  },
                                  .needs_answers = true}});
}

}  // namespace almanac::deployment::chooser
