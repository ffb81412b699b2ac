// SPDX-License-Identifier: Apache-2.0
#include "stats/octaves.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace almanac::stats {
namespace {

constexpr double kLn2 = 0.69314718055994531;

/// The lower end of octave i > 0.
double start_of(std::size_t octave) { return std::exp2(static_cast<double>(octave) - 1); }

}  // namespace

Octaves::Octaves(std::span<const double> weights)
    : cumulative_(weights.size()), integral_(weights.size()) {
  std::partial_sum(weights.begin(), weights.end(), cumulative_.begin());
  ALMANAC_CHECK(!weights.empty() && cumulative_.back() > 0, "{} weights", weights.size());
  const double sum = cumulative_.back();
  double integral = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    cumulative_[i] /= sum;
    integral += weights[i] / sum * (i == 0 ? 1 : start_of(i) / kLn2);
    integral_[i] = integral;
  }
}

Octaves::Place Octaves::place(double u) const {
  const auto above = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, u);
  const double below = above == cumulative_.begin() ? 0 : *(above - 1);
  const double width = *above - below;
  return {static_cast<std::size_t>(above - cumulative_.begin()),
          width > 0 ? std::clamp((u - below) / width, 0.0, 1.0) : 1};
}

std::int64_t Octaves::quantile(double u) const {
  const auto [octave, inside] = place(u);
  if (octave == 0) return 1;
  // Rounding up keeps the share of values <= 2^i exact; it must not leave the octave below.
  const std::int64_t least = (std::int64_t{1} << (octave - 1)) + 1;
  return std::max(least,
                  static_cast<std::int64_t>(std::ceil(start_of(octave) * std::exp2(inside))));
}

double Octaves::integral(double u) const {
  const auto [octave, inside] = place(u);
  if (octave == 0) return inside * cumulative_[0];
  const double width = cumulative_[octave] - cumulative_[octave - 1];
  const double part = (std::exp2(inside) - 1) * start_of(octave) / kLn2;
  return integral_[octave - 1] + width * part;
}

std::int64_t Octaves::mean_between(double low, double high) const {
  const double mean = (integral(high) - integral(low)) / (high - low);
  // The tolerance keeps rounding errors from lifting a 1 to 2.
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(std::ceil(mean - 1e-6)));
}

double Octaves::mean_of(std::size_t i) {
  if (i == 0) return 1;
  const double top = std::exp2(static_cast<double>(i));
  // The mean of an even logarithm over (top/2, top], and the half that rounding up adds.
  return std::min(top, top / 2 / kLn2 + 0.5);
}

std::vector<double> Octaves::count(std::span<const double> values) {
  std::vector<double> counts;
  for (const double value : values) {
    const double octave = value <= 1 ? 0 : std::ceil(std::log2(value));
    const auto i = static_cast<std::size_t>(octave);
    if (i >= counts.size()) counts.resize(i + 1);
    counts[i] += 1;
  }
  return counts;
}

}  // namespace almanac::stats
