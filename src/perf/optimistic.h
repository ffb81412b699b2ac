// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures a job's need for cores and memory in a few short runs: optimistic profiling.
///
/// Source   Synergy (Mohan et al., OSDI'22), the artifact's offline profiler: from all cores
///          downwards at full memory; halves the cores while a run is about as fast as the previous
///          one, then removes one core per GPU. Memory is never measured: a cache with a fixed hit
///          rate gives the fetch time, and the slower of both decides.
/// Differs  between two measured points, speed is linear in cores; the artifact leaves this open.
#pragma once

#include <functional>
#include <vector>

namespace almanac::perf {

struct ProfiledPoint {
  double cpus;
  double epoch_s;  ///< At full memory.
};

/// How long an epoch takes.
class OptimisticProfile {
 public:
  /// Calls `measure_s(cpus)` for each run that it wants. `most_cpus` at least `gpus`, above 0.
  OptimisticProfile(double most_cpus, int gpus, const std::function<double(double)>& measure_s);

  /// By rising cores.
  const std::vector<ProfiledPoint>& points() const { return points_; }
  /// Below the fewest measured cores speed falls in proportion; above the most it stays.
  double epoch_s(double cpus) const;
  /// With memory for a part of the data set only, whose fetching takes `fetch_s` an epoch.
  double epoch_s(double cpus, double fetch_s) const;

 private:
  std::vector<ProfiledPoint> points_;
};

}  // namespace almanac::perf
