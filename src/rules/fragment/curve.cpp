// SPDX-License-Identifier: Apache-2.0
#include "rules/fragment/curve.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "rules/fragment/node.h"

namespace almanac::fragment {
namespace {

/// The sum in NumPy's order: eight sums side by side, and halves of what is longer than 128. The
/// means of rounded numbers are often halves, so their last bit decides how they are rounded.
double pairwise_sum(std::span<const double> values) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 128;
  if (values.size() > kBlock) {
    const std::size_t half = values.size() / 2 / kLanes * kLanes;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  double sum = 0;
  const std::size_t even = values.size() / kLanes * kLanes;
  if (even > 0) {
    std::array<double, kLanes> lanes{};
    for (std::size_t at = 0; at < even; ++at) lanes[at % kLanes] += values[at];
    sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
          ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  for (const double value : values.subspan(even)) sum += value;
  return sum;
}

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return pairwise_sum(values) / static_cast<double>(values.size());
}

}  // namespace

double printed(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  std::array<char, 400> digits;
  char* const end =
      std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed, decimals).ptr;
  std::from_chars(digits.begin(), end, value);
  return value;
}

double rounded(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::nearbyint(value * scale) / scale;
}

void CurveSampler::sample(std::int64_t arrived, std::int64_t used, double unusable) {
  const double percent = rounded(static_cast<double>(arrived) / gpus_ / 10, 0);
  if (!(percent < kPoints)) return;
  const double capacity = static_cast<double>(gpus_) * kWhole;
  const double idle = capacity - static_cast<double>(used);
  Samples& samples = samples_[static_cast<std::size_t>(percent)];
  samples.allocated.push_back(printed(100 * static_cast<double>(used) / capacity, 2));
  samples.unusable.push_back(printed(unusable, 2));
  samples.of_the_idle.push_back(idle > 0 ? printed(100 * unusable / idle, 2) : 0);
}

Curve CurveSampler::curve() const {
  Curve curve;
  for (std::size_t point = 0; point < kPoints; ++point) {
    Samples samples = samples_[point];
    if (samples.allocated.empty()) {
      for (const std::size_t beside : {point - 1, point + 1}) {
        if (beside >= kPoints) continue;
        const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
          to.insert(to.end(), from.begin(), from.end());
        };
        add(samples.allocated, samples_[beside].allocated);
        add(samples.unusable, samples_[beside].unusable);
        add(samples.of_the_idle, samples_[beside].of_the_idle);
      }
    }
    curve.allocated[point] = rounded(mean(samples.allocated), 2);
    curve.fragments[point] = 100 * mean(samples.unusable) / kWhole / gpus_;
    curve.of_the_idle[point] = mean(samples.of_the_idle);
  }
  return curve;
}

}  // namespace almanac::fragment
