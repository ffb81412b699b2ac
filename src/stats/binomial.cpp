// SPDX-License-Identifier: Apache-2.0
#include "stats/binomial.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace almanac::stats {

double binomial_at_least(std::int64_t successes, std::int64_t trials, double p) {
  if (successes <= 0) return 1;
  if (successes > trials || p <= 0) return 0;
  if (p >= 1) return 1;
  const auto n = static_cast<double>(trials);
  const auto log_of = [&](double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
           (n - k) * std::log1p(-p);
  };
  double sum = 0;
  // From the far end on: the small ones first.
  for (std::int64_t k = trials; k >= successes; --k)
    sum += std::exp(log_of(static_cast<double>(k)));
  return std::min(1.0, sum);
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
