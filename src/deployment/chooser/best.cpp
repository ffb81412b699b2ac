// SPDX-License-Identifier: Apache-2.0

/// \file
/// Queries the most accurate variant; of equally accurate ones the faster.
#include "deployment/registry.h"

namespace almanac::deployment::chooser {
namespace {

class Best final : public Chooser {
 public:
  explicit Best(const ChooserCase& told) {
    for (std::size_t each = 1; each < told.variants.size(); ++each) {
      const Variant& it = told.variants[each];
      const Variant& best = told.variants[best_];
      const bool is_faster = it.batch_ms(1, 1) < best.batch_ms(1, 1);
      if (it.accuracy > best.accuracy || (it.accuracy == best.accuracy && is_faster)) best_ = each;
    }
  }
  std::vector<std::size_t> may_ask() const override { return {best_}; }
  std::vector<std::size_t> ask(Rng&) override { return {best_}; }
  int answer(std::span<const Label> said) override { return said[best_].label; }

 private:
  std::size_t best_ = 0;
};

}  // namespace

void register_best(Registry& registry) {
  registry.choosers.add({.name = "best",
                         .summary = "the most accurate variant",
                         .source = "",
                         .make = {.make = [](const ChooserCase& told) -> std::unique_ptr<Chooser> {
                           return std::make_unique<Best>(told);
                         }}});
}

}  // namespace almanac::deployment::chooser
