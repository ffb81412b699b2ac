// SPDX-License-Identifier: Apache-2.0
#include "stats/holm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace almanac::stats {

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double most = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    most = std::max(most, std::min(1.0, left * p_values[order[rank]]));
    adjusted[order[rank]] = most;
  }
  return adjusted;
}

}  // namespace almanac::stats
