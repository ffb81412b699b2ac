// SPDX-License-Identifier: Apache-2.0

/// \file
/// What each tenant, user or job had, beside what it was due.
#pragma once

#include <cstddef>
#include <span>

namespace almanac::fairness {

/// Amounts in any unit, the same for all; neither is negative.
struct Holding {
  double had = 0;
  double due = 0;
};

struct Judgement {
  /// The part of all that was had which would have to change hands for each to have had its due
  /// part: 0 = all did, below 1 always. 0 too where nothing was had or due.
  double share_error = 0;
  /// Which had least of its due, the first of equals; the number of holdings where none was due
  /// any.
  std::size_t worst = 0;
  /// Its part of what was had / its part of what was due; 1 where none was due any.
  double worst_ratio = 1;
  /// Of had / due over those that were due any; NaN where none was.
  double jain = 0;
};

/// O(n).
Judgement judge(std::span<const Holding> holdings);

/// (sum x)^2 / (n sum x^2): 1 = all alike, 1 / n = one has all. 1 where all are 0, NaN for no
/// values.
///
/// Source   Jain, Chiu, Hawe, DEC-TR-301, 1984.
double jain_index(std::span<const double> values);

/// Finish-time fairness rho: the time from submission to end, relative to that with 1 / n of the
/// cluster for itself. Above 1 = worse off than with a cluster of its own. `jobs` and `gpus` are
/// those that there were: jobs share no GPU before each has one.
///
/// Source   Mahajan et al., NSDI'20 (Themis), section 3; as Shockwave (NSDI'23) measures it.
double finish_time_ratio(double jct_s, double alone_s, double jobs, double gpus);

/// How much sooner than others as short a job is to run that would end at a finish-time ratio of
/// rho: rho^power. A power of 0 is the shortest first, and a great one makes the worst off first.
/// At 6 ratios on Gavel's and Shockwave's workloads are no worse than those of the best published
/// policy, and mean times within 1 % of the best or below; greater ones need run times that are
/// known well (recipe fair-srtf, on which it was chosen). Ours.
inline constexpr double kLatenessPower = 6;
double lateness_weight(double rho, double power = kLatenessPower);

}  // namespace almanac::fairness
