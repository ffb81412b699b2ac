// SPDX-License-Identifier: Apache-2.0

/// \file
/// The speed of jobs that read their data sets from remote storage through a cache.
///
///   speed = min(1, given / (full * (1 - cached / data set)))
///
/// A job reads its data set over and over, in a new random order each time. The cached part of its
/// reads comes from the cache, fast enough; the rest comes from remote storage at the rate that the
/// job is given. Reading and computing overlap, and the slower one decides.
///
/// Source   Zhao et al., EuroSys'23 (SiloD), the performance model SiloDPerf = min(f*, f(cache,
///          bandwidth)).
/// Differs  caches count as warm: the first read of a newly cached data set is ignored.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace almanac::perf {

/// A data set that jobs read.
struct DataSet {
  double gb = 0;
  std::optional<double> told_gb{};  ///< Part of it to cache; nothing = not given.
};

/// A job that reads.
struct RemoteReader {
  std::size_t data_set = 0;
  double gbs = 0;                                             ///< At full speed.
  double most_gbs = std::numeric_limits<double>::infinity();  ///< Cap on remote reads, if set.
};

/// Returns how much of each data set is cached, in GB. Given amounts apply, scaled down if they
/// exceed the cache. The rest is shared equally among the others, up to their size.
std::vector<double> cached_gb(std::span<const DataSet> data_sets, double cache_gb);

/// Returns the remote rate that a reader needs to run at full speed, in GB/s.
inline double remote_need(double gbs, double data_gb, double cached) {
  return gbs * (1 - cached / data_gb);
}

/// Returns the speed of each reader, 0 to 1, if all get an equal remote rate, at most what each
/// needs or may have (max-min fair). O(readers log readers).
std::vector<double> remote_speeds(std::span<const RemoteReader> readers,
                                  std::span<const DataSet> data_sets,
                                  std::span<const double> cached, double remote_gbs);

}  // namespace almanac::perf
