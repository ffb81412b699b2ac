// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast cores and memory supply a GPU with input.
///
/// Speeds are relative to the input that the GPU consumes if nothing else limits it, for the GPU
/// type on which the curve was measured:
///
///   cores     (cores / enough)^power
///   memory    disk / (1 - memory / dataset) if the data set does not fit into it, else no limit
///
/// The lower of the two applies. Below 1, the GPU waits for input; above 1, a faster GPU could be
/// supplied.
///
/// Source   the memory term is Synergy's (Mohan et al., OSDI'22, section 3.2 of their profiler): a
///          cache with a fixed hit rate leaves the rest to the disk. The term for cores is
///          Almanac's own; power 1 would be linear.
/// Range    1 to 24 cores and 20 to 250 GB per GPU. Errors: docs/guide/perf.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace almanac::perf {

struct InputCurve {
  double enough_cpus = 1;  ///< Cores per GPU that supply it fully, with enough memory.
  double power = 1;        ///< 0 to 1.
  double disk = 1;         ///< Speed with nothing cached; 1 = memory does not matter.
  double dataset_gb = 0;   ///< Per GPU.

  double by_cpus(double cpus_per_gpu) const { return std::pow(cpus_per_gpu / enough_cpus, power); }
  double by_memory(double memory_gb_per_gpu) const {
    if (disk >= 1 || memory_gb_per_gpu >= dataset_gb) {
      return std::numeric_limits<double>::infinity();
    }
    return disk / (1 - memory_gb_per_gpu / dataset_gb);
  }
  double operator()(double cpus_per_gpu, double memory_gb_per_gpu) const {
    return std::min(by_cpus(cpus_per_gpu), by_memory(memory_gb_per_gpu));
  }
  /// Returns the least memory per GPU that supplies it fully.
  double enough_memory_gb() const { return disk >= 1 ? 0 : dataset_gb * (1 - disk); }
};

}  // namespace almanac::perf
