// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast cores and memory feed a GPU.
///
/// Relative to what the GPU takes when it computes alone, of the type that the curve was measured
/// on:
///
///   cores     (cores / enough)^power
///   memory    disk / (1 - memory / dataset) while the data set does not fit in it, else no bound
///
/// The lesser of both feeds the GPU. Below 1 the GPU waits; above 1 a faster one could be fed.
///
/// Source   the form of memory is Synergy's (Mohan et al., OSDI'22, section 3.2 of their profiler):
///          what a cache of fixed hit rate leaves is fetched from disk. That of cores is ours:
///          linear would be power 1.
/// Range    1 to 24 cores and 20 to 250 GB a GPU. Errors: docs/guide/perf.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace almanac::perf {

struct InputCurve {
  double enough_cpus = 1;  ///< Of a GPU, with enough memory.
  double power = 1;        ///< 0 to 1.
  double disk = 1;         ///< The speed at which nothing is cached; 1 = memory does not matter.
  double dataset_gb = 0;   ///< Of a GPU's share.

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
  /// The least memory that feeds the GPU wholly.
  double enough_memory_gb() const { return disk >= 1 ? 0 : dataset_gb * (1 - disk); }
};

}  // namespace almanac::perf
