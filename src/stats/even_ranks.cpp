// SPDX-License-Identifier: Apache-2.0
#include "stats/even_ranks.h"

#include <algorithm>
#include <cmath>

namespace almanac::stats {
namespace {

constexpr float kBinsPerUnit = 512;
constexpr float kReach = 8;  // standard deviations, either way
constexpr std::size_t kBins = 2 * static_cast<std::size_t>(kReach * kBinsPerUnit);

/// Where a value lies, in bins from the lowest.
float position(float value) {
  return std::clamp((value + kReach) * kBinsPerUnit, 0.0F, static_cast<float>(kBins) - 0.5F);
}

}  // namespace

EvenRanks::EvenRanks(std::span<const float> values) : below_(kBins + 1) {
  for (const float value : values) ++below_[static_cast<std::size_t>(position(value)) + 1];
  for (std::size_t bin = 0; bin < kBins; ++bin) below_[bin + 1] += below_[bin];
}

double EvenRanks::operator()(float value) const {
  const float at = position(value);
  const auto bin = static_cast<std::size_t>(at);
  const double inside = static_cast<double>(at) - std::floor(static_cast<double>(at));
  const double here = static_cast<double>(below_[bin + 1] - below_[bin]);
  const double rank = static_cast<double>(below_[bin]) + inside * here;
  return std::min(rank, static_cast<double>(below_.back()) - 1e-6);
}

}  // namespace almanac::stats
