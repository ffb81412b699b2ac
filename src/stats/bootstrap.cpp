// SPDX-License-Identifier: Apache-2.0
#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"

namespace almanac::stats {

void bootstrap(std::size_t blocks, std::size_t times, Rng& rng,
               const std::function<void(std::span<const std::uint32_t>)>& use) {
  std::vector<std::uint32_t> drawn(blocks);
  for (std::size_t time = 0; time < times; ++time) {
    std::fill(drawn.begin(), drawn.end(), 0);
    for (std::size_t block = 0; block < blocks; ++block) ++drawn[rng.below(blocks)];
    use(drawn);
  }
}

std::pair<double, double> middle_95(std::vector<double>& draws) {
  std::erase_if(draws, [](double draw) { return std::isnan(draw); });
  return {quantile(draws, 0.025), quantile(draws, 0.975)};
}

}  // namespace almanac::stats
