// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs in use minute by minute, as the Helios study counts them: starts and ends are floored to
/// the minute and both count, so that every job holds its GPUs for one minute at least.
///
/// Source   Hu et al., SC'21, Figures 2 to 4 (the notebooks' cluster_sequence).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "study/study.h"

namespace almanac::study {

/// The minutes first ..+ count since the epoch.
struct Minutes {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Returns the minutes that the log covers: from the first submission of a GPU job to the last.
/// Jobs that run beyond it would only show the cluster emptying.
/// Differs  The Helios study starts and ends its grid at midnight, and so counts hours before its
///          log begins as idle.
Minutes minutes_of(const Study& study);

/// GPUs held in each minute by those of `jobs` (positions in the trace) whose start is known; a job
/// on a part of a GPU holds that part. O(jobs + minutes).
std::vector<double> gpus_in_use(const Study& study, Minutes minutes,
                                std::span<const std::uint32_t> jobs);

/// GPUs that a virtual cluster (kNoVc: the whole cluster) has in each minute.
std::vector<double> gpus_there(const cluster::Cluster& cluster, Minutes minutes, VcId vc);

/// Returns in use / available, rounded to three digits like the published series; NaN if none is
/// available.
double use_of(double in_use, double there);

}  // namespace almanac::study
