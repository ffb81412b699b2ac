// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/promise.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace almanac::elastic {

double chance_of(std::span<const LossPoint> losses, double steps, double target) {
  const LossCurve curve(losses);
  const double now = losses.back().step;
  const LossDrop drop = curve.drop(now, steps);
  const double beyond = drop.expected - (curve.at(now) + target);
  const double deviation = beyond > 0 ? drop.expected - drop.least : drop.most - drop.expected;
  if (!(deviation > 0)) return beyond >= 0 ? 1 : 0;
  return std::erfc(-beyond / deviation / std::sqrt(2.0)) / 2;
}

double promising_from(std::span<const double> chances, double slots) {
  std::vector<double> sorted(chances.begin(), chances.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double best = 0;
  double from = 1;
  for (std::size_t at = 0; at < sorted.size(); ++at) {
    if (at + 1 < sorted.size() && sorted[at + 1] == sorted[at]) continue;  // one more asks at it
    const double effective = std::min(static_cast<double>(at + 1), slots * sorted[at]);
    if (effective <= best) continue;
    best = effective;
    from = sorted[at];
  }
  return from;
}

}  // namespace almanac::elastic
