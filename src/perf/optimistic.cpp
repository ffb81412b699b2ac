// SPDX-License-Identifier: Apache-2.0
#include "perf/optimistic.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace almanac::perf {
namespace {

/// Runs closer than this are about as fast.
constexpr double kAlike = 0.1;

}  // namespace

OptimisticProfile::OptimisticProfile(double most_cpus, int gpus,
                                     const std::function<double(double)>& measure_s) {
  ALMANAC_CHECK(gpus >= 1 && most_cpus >= 1, "{} cores, {} GPUs", most_cpus, gpus);
  double before_s = 0;
  for (double cpus = most_cpus; cpus >= 1;) {
    const double now_s = measure_s(cpus);
    points_.push_back({cpus, now_s});
    const bool alike = before_s == 0 || std::abs(before_s - now_s) / before_s < kAlike;
    before_s = now_s;
    cpus = alike ? std::floor(cpus / 2) : cpus - gpus;
  }
  std::reverse(points_.begin(), points_.end());
}

double OptimisticProfile::epoch_s(double cpus) const {
  const auto above = std::find_if(points_.begin(), points_.end(),
                                  [&](const ProfiledPoint& point) { return point.cpus >= cpus; });
  if (above == points_.end()) return points_.back().epoch_s;
  if (above == points_.begin()) return above->epoch_s * above->cpus / cpus;
  const ProfiledPoint& below = *(above - 1);
  const double part = (cpus - below.cpus) / (above->cpus - below.cpus);
  return 1 / ((1 - part) / below.epoch_s + part / above->epoch_s);
}

double OptimisticProfile::epoch_s(double cpus, double fetch_s) const {
  return std::max(epoch_s(cpus), fetch_s);
}

}  // namespace almanac::perf
