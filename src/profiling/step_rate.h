// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long a step takes on average, how sure that is, and when it is sure enough.
///
///   warm-up     what is left out at the begin makes the rest's standard error least (MSER)
///   interval    what is left is cut into batches of about equal numbers of steps; the mean step is
///               all seconds over all steps, its error from how the batches differ (ratio
///               estimator), by Student's t; of 20 batches and of 10 the wider, since neighbouring
///               steps are alike and that shows more in short batches
///   stop        looked at only when a fifth more has been seen than the last time, and twice in a
///               row: a rule that looks all the time stops by luck
///
/// Source   White, Simulation 1997 (MSER); Law, Simulation Modeling and Analysis, section 9.5
/// (batch
///          means; sequential stopping); Cochran, Sampling Techniques, section 6.4 (ratio).
/// Range    coverage of the 95 % interval when stopped: step_rate_test.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace almanac::profiling {

/// Between two lines of progress.
struct Interval {
  double seconds = 0;
  double steps = 0;  ///< Above 0.
};

/// Mean seconds a step, with the 95 % interval; steps a second is the inverse of each.
struct StepRate {
  double step_s = 0;
  double half_width = 0;    ///< Relative; infinite when it cannot be told.
  double steps = 0;         ///< Measured, warm-up left out.
  double seconds = 0;       ///< Likewise.
  std::size_t warm_up = 0;  ///< Intervals left out at the begin.
  bool settled = false;     ///< The warm-up is over: it ended within the first half.
};

/// Nothing from fewer than 3 intervals. O(intervals).
std::optional<StepRate> step_rate(std::span<const Interval> intervals);

struct StopRule {
  double precision = 0.02;       ///< The relative half width that is enough.
  double least_s = 1;            ///< Measured at least, warm-up left out.
  std::size_t least_count = 20;  ///< Intervals likewise.
};

/// Decides when to stop.
class Stopper {
 public:
  explicit Stopper(const StopRule& rule) : rule_(rule) {}

  /// To be asked as `intervals` grow.
  bool enough(std::span<const Interval> intervals);

 private:
  StopRule rule_;
  std::size_t next_look_ = 0;
  bool was_enough_ = false;
};

}  // namespace almanac::profiling
