// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "inference/workload/workload.h"
#include "stats/normal.h"

namespace almanac::inference {
namespace {

constexpr double kFewest = 1;

/// The quantile at `u` of values at equal steps; between them the logarithm goes evenly.
double between(const std::vector<double>& at, double u) {
  const double place = u * static_cast<double>(at.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), at.size() - 2);
  const double low = std::max(at[below], kFewest), high = std::max(at[below + 1], kFewest);
  return low * std::pow(high / low, place - static_cast<double>(below));
}

}  // namespace

std::int32_t Lengths::quantile(double u) const {
  const double last = 1 - 1 / static_cast<double>(at.size() - 1);
  const double value =
      u < last || tail.empty() ? between(at, u) : between(tail, (u - last) / (1 - last));
  return static_cast<std::int32_t>(std::max<long>(1, std::lround(value)));
}

Lengths log_normal_lengths(double median, double spread, double most) {
  constexpr int kSteps = 100, kTailSteps = 10;
  const auto value = [&](double u) {
    // The outermost are those of one in twenty thousand.
    constexpr double kOutermost = 5e-5;
    const double z = stats::normal_quantile(std::clamp(u, kOutermost, 1 - kOutermost));
    return std::clamp(median * std::exp(spread * z), kFewest, std::max(kFewest, most));
  };
  Lengths made;
  for (int step = 0; step <= kSteps; ++step) made.at.push_back(value(step / 100.0));
  for (int step = 0; step <= kTailSteps; ++step) made.tail.push_back(value(0.99 + step / 1000.0));
  made.tail.front() = made.at[kSteps - 1];
  made.tail.back() = made.at[kSteps];
  return made;
}

Workload plain_workload() {
  Tenant tenant;
  tenant.prompt = log_normal_lengths(1000, 1, 32'000);
  tenant.output = log_normal_lengths(150, 1, 4'000);
  return {.tenants = {tenant}};
}

}  // namespace almanac::inference
