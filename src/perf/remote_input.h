// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast jobs run that read their data sets from afar, through a cache.
///
///   speed = min(1, given / (full * (1 - cached / data set)))
///
/// A job reads its data set over and over, each pass in another random order. So of what it reads
/// the part that is cached comes from the cache, fast enough, and the rest from remote storage, of
/// which it is given so much; reading and computing go on at the same time, and the slower decides.
///
/// Source   Zhao et al., EuroSys'23 (SiloD), the performance model SiloDPerf = min(f*, f(cache,
///          bandwidth)) as the project's survey restates it.
/// Differs  a cache is taken to be full: a data set that is cached for the first time is read from
///          afar once, which is not counted.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace almanac::perf {

/// What jobs read.
struct DataSet {
  double gb = 0;
  std::optional<double> told_gb{};  ///< To be cached of it; nothing = nobody says.
};

/// A job that reads.
struct RemoteReader {
  std::size_t data_set = 0;
  double gbs = 0;                                             ///< At full speed.
  double most_gbs = std::numeric_limits<double>::infinity();  ///< From afar, as somebody says.
};

/// How much of each data set is cached, in GB: what is told, all less in proportion if that is more
/// than there is; of what is left the others get the same each, and none more than it is.
std::vector<double> cached_gb(std::span<const DataSet> data_sets, double cache_gb);

/// What a reader needs from afar to run at full speed, in GB/s.
inline double remote_need(double gbs, double data_gb, double cached) {
  return gbs * (1 - cached / data_gb);
}

/// The speed of each reader, 0 to 1, where all get the same from afar, and none more than it needs
/// or may have (max-min fair). O(readers log readers).
std::vector<double> remote_speeds(std::span<const RemoteReader> readers,
                                  std::span<const DataSet> data_sets,
                                  std::span<const double> cached, double remote_gbs);

}  // namespace almanac::perf
