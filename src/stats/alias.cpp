// SPDX-License-Identifier: Apache-2.0
#include "stats/alias.h"

#include <numeric>

#include "base/check.h"

namespace almanac::stats {

Alias::Alias(std::span<const double> weights) : slots_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  ALMANAC_CHECK(sum > 0, "{} weights, sum {}", weights.size(), sum);
  std::vector<double> rest(weights.size());
  std::vector<std::uint32_t> poor;
  std::vector<std::uint32_t> rich;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    rest[i] = weights[i] * static_cast<double>(weights.size()) / sum;
    (rest[i] < 1 ? poor : rich).push_back(i);
  }
  while (!poor.empty() && !rich.empty()) {
    const std::uint32_t taker = poor.back();
    const std::uint32_t giver = rich.back();
    poor.pop_back();
    slots_[taker] = {rest[taker], giver};
    rest[giver] -= 1 - rest[taker];
    if (rest[giver] < 1) {
      rich.pop_back();
      poor.push_back(giver);
    }
  }
  // What is left over is 1 but for rounding, and keeps its default.
}

}  // namespace almanac::stats
