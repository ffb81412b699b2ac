// SPDX-License-Identifier: Apache-2.0

/// \file
/// Node where the capacity that expected jobs cannot use grows least.
///
/// Source   Weng et al., ATC'23 (FGD), sections 3 and 4, and the program published with it.
/// Differs  `exact` compares the growth itself. The published program compares whole percents of
///          its sigmoid, each about 40 thousandths of a GPU wide, with better results.
#include <cmath>

#include "policy/kit/scored_placement.h"
#include "policy/placement/gradient.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class Fgd final : public Gradient {
 public:
  explicit Fgd(bool exact) : exact_(exact) {}

 private:
  std::int32_t score(const Growth& growth, const fragment::Outlook&) const override {
    return exact_ ? static_cast<std::int32_t>(std::lround(1e9 - 1e4 * growth.milli))
                  : percent(growth.milli);
  }

  bool exact_;
};

}  // namespace

void register_fgd(Registry& registry) {
  registry.placements.add(
      {.name = "fgd",
       .summary = "node where fragmentation grows least, for the jobs that are likely to come",
       .source = "Weng et al. ATC'23 §4",
       .parameters = {word("score",
                           "rounding of the score: to whole percents, as published, or none",
                           {"percent", "exact"})}},
      [](const Parameters& told, const Host& host) {
        return make_scored_placement(std::make_unique<Fgd>(told.word("score") == "exact"), host);
      });
}

}  // namespace almanac::policy::placement
