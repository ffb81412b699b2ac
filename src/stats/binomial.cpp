// SPDX-License-Identifier: Apache-2.0
#include "stats/binomial.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <boost/math/distributions/binomial.hpp>

namespace almanac::stats {

double binomial_at_least(std::int64_t successes, std::int64_t trials, double p) {
  if (successes <= 0) return 1;
  if (successes > trials || p <= 0) return 0;
  if (p >= 1) return 1;
  using boost::math::complement;
  const boost::math::binomial distribution(static_cast<double>(trials), p);
  return cdf(complement(distribution, static_cast<double>(successes - 1)));
}

std::vector<double> holm(const std::vector<double>& p_values) {
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
