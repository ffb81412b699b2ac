// SPDX-License-Identifier: Apache-2.0
#include "stats/log_normal.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "stats/normal.h"

namespace almanac::stats {
namespace {

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

/// The integral of exp(spread x quantile) up to the standard normal's quantile `z`.
double normal_part(double z, double spread) {
  return std::exp(spread * spread / 2) * normal_cdf(z - spread);
}

}  // namespace

LogNormal::LogNormal(double median, double spread, double most)
    : median_(median), spread_(spread), most_(most), cut_(1) {
  ALMANAC_CHECK(median > 0 && median <= most && spread >= 0, "{} {} {}", median, spread, most);
  if (spread > 0 && std::isfinite(most)) cut_ = normal_cdf(std::log(most / median) / spread);
  below_cut_ = median_ * normal_part(normal_quantile(cut_), spread_);
}

std::int64_t LogNormal::quantile(double u) const {
  if (spread_ == 0) return whole(median_);
  return whole(std::min(most_, median_ * std::exp(spread_ * normal_quantile(u))));
}

std::int64_t LogNormal::mean_between(double low, double high) const {
  return whole((integral(high) - integral(low)) / (high - low));
}

double LogNormal::integral(double u) const {
  if (u < cut_) return median_ * normal_part(normal_quantile(u), spread_);
  return below_cut_ + (u > cut_ ? (u - cut_) * most_ : 0);
}

}  // namespace almanac::stats
