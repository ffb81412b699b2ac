// SPDX-License-Identifier: Apache-2.0
#include "stats/sign_flip.h"

#include <cmath>
#include <cstdint>
#include <numeric>

namespace almanac::stats {

double sign_flip_p(std::span<const double> blocks, std::size_t times, Rng& rng) {
  // Sums of equal size must count as equal, whatever the order of their signs rounds them to.
  const double scale =
      std::accumulate(blocks.begin(), blocks.end(), 0.0,
                      [](double sum, double each) { return sum + std::abs(each); });
  const double seen = std::abs(std::accumulate(blocks.begin(), blocks.end(), 0.0)) - 1e-12 * scale;
  const auto is_as_far = [&](auto&& negative) {
    double sum = 0;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      sum += negative(block) ? -blocks[block] : blocks[block];
    }
    return std::abs(sum) >= seen;
  };
  std::size_t as_far = 0;
  if (blocks.size() < 63 && (std::uint64_t{1} << blocks.size()) <= times) {
    const std::uint64_t ways = std::uint64_t{1} << blocks.size();
    for (std::uint64_t way = 0; way < ways; ++way) {
      as_far += is_as_far([&](std::size_t block) { return (way >> block & 1U) != 0; }) ? 1 : 0;
    }
    return static_cast<double>(as_far) / static_cast<double>(ways);
  }
  for (std::size_t time = 0; time < times; ++time) {
    as_far += is_as_far([&](std::size_t) { return (rng.next() >> 63) != 0; }) ? 1 : 0;
  }
  return static_cast<double>(as_far + 1) / static_cast<double>(times + 1);
}

}  // namespace almanac::stats
