// SPDX-License-Identifier: Apache-2.0

/// \file
/// How far usage and fair shares of tenants, users or jobs differ.
#pragma once

#include <cstddef>
#include <span>

namespace almanac::fairness {

/// Usage and fair share in any unit, the same for all holdings; neither is negative.
struct Holding {
  double had = 0;  ///< Usage.
  double due = 0;  ///< Fair share.
};

struct Judgement {
  /// Fraction of all usage that would have to move to other holdings for each to have its share.
  /// Below 1; 0 if all have theirs, or if there is no usage or no share.
  double share_error = 0;
  /// Position of the holding with the smallest usage relative to its share, the first of equals;
  /// the number of holdings if none has a share.
  std::size_t worst = 0;
  /// Its fraction of all usage divided by its fraction of all shares; 1 if none has a share.
  double worst_ratio = 1;
  /// Jain's index of usage / share over the holdings with a share; NaN without any.
  double jain = 0;
};

/// O(n).
Judgement judge(std::span<const Holding> holdings);

/// Returns Jain's fairness index (sum x)^2 / (n sum x^2). 1 means all equal, 1 / n means one has
/// everything. Returns 1 if all values are 0, and NaN for no values.
///
/// Source   Jain, Chiu, Hawe, DEC-TR-301, 1984.
double jain_index(std::span<const double> values);

/// Returns finish-time fairness rho: the time from submission to end, divided by the time that the
/// job would take on 1 / n of the cluster. Above 1, the job is worse off than on such a cluster of
/// its own. `jobs` and `gpus` are the numbers present; jobs share a GPU only if there are more jobs
/// than GPUs.
///
/// Source   Mahajan et al., NSDI'20 (Themis), section 3; as Shockwave (NSDI'23) measures it.
double finish_time_ratio(double jct_s, double alone_s, double jobs, double gpus);

/// Weight rho^power of a job that would end with finish-time ratio rho, relative to other jobs as
/// short. Power 0 is shortest first; a large power puts the worst off first. With 6, ratios on
/// Gavel's and Shockwave's workloads are no worse than those of the best published policy, and mean
/// times are within 1 % of the best or below (recipe fair-srtf, which chose it). Larger powers need
/// accurate run times. Our own.
inline constexpr double kLatenessPower = 6;
double lateness_weight(double rho, double power = kLatenessPower);

}  // namespace almanac::fairness
