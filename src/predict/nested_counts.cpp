// SPDX-License-Identifier: Apache-2.0
#include "predict/nested_counts.h"

namespace almanac::predict {

void NestedCounts::add(std::span<const std::uint64_t> kinds, std::size_t cell) {
  constexpr float kFade = 0.998F;
  for (const std::uint64_t kind : kinds) {
    if (kind == 0) continue;
    Counts& counts = counts_[kind];
    for (float& each : counts.jobs) each *= kFade;
    counts.total = kFade * counts.total + 1;
    counts.jobs[cell] += 1;
  }
}

NestedCounts::Shares NestedCounts::shares(std::span<const std::uint64_t> kinds,
                                          const Shares& before) const {
  // A guess made without any job weighs as much as one; a wider kind as much as ten.
  constexpr float kGuess = 1;
  constexpr float kWider = 10;
  Shares made = before;
  float weight = kGuess;
  for (const std::uint64_t kind : kinds) {
    const auto found = counts_.find(kind);
    if (kind == 0 || found == counts_.end()) continue;
    const Counts& counts = found->second;
    const float each = 1 / (counts.total + weight);
    for (std::size_t cell = 0; cell < made.size(); ++cell) {
      made[cell] = each * (counts.jobs[cell] + weight * made[cell]);
    }
    weight = kWider;
  }
  return made;
}

}  // namespace almanac::predict
