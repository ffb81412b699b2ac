// SPDX-License-Identifier: Apache-2.0

/// \file
/// Draws from a list of weighted choices in constant time.
///
/// Source   Walker, ACM TOMS 1977; Vose, IEEE TSE 1991 (building it in linear time).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"

namespace almanac::stats {

class Alias {
 public:
  /// Requires: weights >= 0, at least one of them > 0.
  explicit Alias(std::span<const double> weights);

  /// Returns an index, with probability proportional to its weight. Cost: constant.
  std::size_t draw(Rng& rng) const {
    const auto slot = static_cast<std::size_t>(rng.below(slots_.size()));
    return rng.uniform() < slots_[slot].keep ? slot : slots_[slot].other;
  }

 private:
  struct Slot {
    double keep = 1;          // probability of the slot's own choice
    std::uint32_t other = 0;  // the choice that fills the rest
  };
  std::vector<Slot> slots_;
};

}  // namespace almanac::stats
