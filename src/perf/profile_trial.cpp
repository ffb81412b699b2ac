// SPDX-License-Identifier: Apache-2.0
#include "perf/profile_trial.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "perf/fit_parts.h"
#include "perf/optimistic.h"

namespace almanac::perf {
namespace {

/// The table at most memory, between its cores by straight lines.
double speed_at(const std::map<double, double>& speeds, double cpus) {
  const auto above = speeds.lower_bound(cpus);
  if (above == speeds.end()) return speeds.rbegin()->second;
  if (above == speeds.begin()) return above->second * cpus / above->first;
  const auto below = std::prev(above);
  const double part = (cpus - below->first) / (above->first - below->first);
  return (1 - part) * below->second + part * above->second;
}

}  // namespace

ProfileTrial try_profile(std::span<const Measurement> rows, const InputCurve& curve) {
  double most_memory_gb = 0;
  std::set<double> memories;
  for (const Measurement& row : rows) {
    most_memory_gb = std::max(most_memory_gb, row.memory_gb_per_gpu);
    memories.insert(row.memory_gb_per_gpu);
  }
  std::map<double, double> speeds;
  for (const Measurement& row : rows) {
    const bool most = !(row.memory_gb_per_gpu < most_memory_gb);
    if (most && !std::isnan(row.cpus_per_gpu)) speeds[row.cpus_per_gpu] = row.throughput;
  }
  if (speeds.empty() || speeds.rbegin()->first < 1) return {.error = kNotSaid, .worst = kNotSaid};
  const double most_cpus = std::floor(speeds.rbegin()->first);
  const OptimisticProfile profile(most_cpus, 1,
                                  [&](double cpus) { return 1 / speed_at(speeds, cpus); });
  const double full = speeds.rbegin()->second;
  ProfileTrial trial{.measured = static_cast<int>(profile.points().size()),
                     .grid = static_cast<int>(most_cpus) * static_cast<int>(memories.size())};
  double sum = 0;
  for (const Measurement& row : rows) {
    const double fetch = 1 / (full * curve.by_memory(row.memory_gb_per_gpu));
    const double filled = 1 / profile.epoch_s(row.cpus_per_gpu, fetch);
    sum += std::pow(std::log(filled / row.throughput), 2);
    trial.worst = std::max(trial.worst, std::abs(filled / row.throughput - 1));
  }
  trial.error = root_mean(sum, rows.size());
  return trial;
}

}  // namespace almanac::perf
