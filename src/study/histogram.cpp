// SPDX-License-Identifier: Apache-2.0
#include "study/histogram.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"

namespace almanac::study {
using stats::kNaN;

void PercentHistogram::add(double percent) {
  const double value = std::clamp(percent, 0.0, 100.0);
  ++bins_[static_cast<std::size_t>(std::lround(10 * value))];
  ++count_;
  sum_ += value;
}

void PercentHistogram::add(const PercentHistogram& other) {
  for (std::size_t bin = 0; bin < kBins; ++bin) bins_[bin] += other.bins_[bin];
  count_ += other.count_;
  sum_ += other.sum_;
}

double PercentHistogram::mean() const {
  return count_ > 0 ? sum_ / static_cast<double>(count_) : kNaN;
}

double PercentHistogram::quantile(double q) const {
  if (count_ == 0) return kNaN;
  const auto wanted = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_))));
  std::int64_t seen = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    seen += bins_[bin];
    if (seen >= wanted) return static_cast<double>(bin) / 10;
  }
  return 100;
}

double PercentHistogram::zeros() const {
  return count_ > 0 ? static_cast<double>(bins_[0]) / static_cast<double>(count_) : kNaN;
}

}  // namespace almanac::study
