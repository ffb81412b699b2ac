// SPDX-License-Identifier: Apache-2.0

/// \file
/// Estimates the mean time of a step, and decides when the estimate is precise enough.
///
///   warm-up     the first intervals are left out, as many as minimize the standard error of the
///               rest (MSER)
///   interval    the rest is cut into batches of about equal numbers of steps. The mean is all
///               seconds / all steps (ratio estimator). The 95 % interval follows from the variance
///               between batches, by Student's t. The wider of two intervals counts, by 20 and by
///               10 batches: consecutive steps are correlated, so short batches can give too narrow
///               an interval
///   stop        the precision is tested each time a fifth more intervals have come, and must
///               suffice twice in a row: a test at each interval would stop too early by chance
///
/// Source   White, Simulation 1997 (MSER); Law, Simulation Modeling and Analysis, section 9.5
///          (batch means; sequential stopping); Cochran, Sampling Techniques, section 6.4 (ratio).
/// Range    step_rate_test.cpp checks the coverage of the 95 % interval.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace almanac::profiling {

/// The time and the steps between two lines of progress.
struct Interval {
  double seconds = 0;
  double steps = 0;  ///< Above 0.
};

/// Mean seconds per step with its 95 % interval. Steps per second are the inverse.
struct StepRate {
  double step_s = 0;
  double half_width = 0;    ///< Of the interval, relative to step_s; infinite if not known.
  double steps = 0;         ///< Without the warm-up.
  double seconds = 0;       ///< Without the warm-up.
  std::size_t warm_up = 0;  ///< Intervals of the warm-up.
  bool settled = false;     ///< The warm-up ended within the first half of the intervals.
};

/// Returns nothing for fewer than 3 intervals. Cost: linear in intervals.
std::optional<StepRate> step_rate(std::span<const Interval> intervals);

/// When a StepRate is precise enough.
struct StopRule {
  double precision = 0.02;       ///< Largest relative half width.
  double least_s = 1;            ///< Fewest seconds, without the warm-up.
  std::size_t least_count = 20;  ///< Fewest intervals, without the warm-up.
};

/// Decides when a measurement may stop.
class Stopper {
 public:
  explicit Stopper(const StopRule& rule) : rule_(rule) {}

  /// Whether `intervals` suffice. Call it as they grow.
  bool enough(std::span<const Interval> intervals);

 private:
  StopRule rule_;
  std::size_t next_look_ = 0;
  bool was_enough_ = false;
};

}  // namespace almanac::profiling
