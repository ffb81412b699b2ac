// SPDX-License-Identifier: Apache-2.0
#include "profiling/step_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stats/student.h"

namespace almanac::profiling {
namespace {

constexpr double kTails = 0.05;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// A first step loads, compiles and measures itself: never taken for one like the others.
constexpr std::size_t kLeastWarmUp = 1;

double step_s(const Interval& interval) { return interval.seconds / interval.steps; }

/// MSER: the begin after which the sum of squared deviations over the squared number is least.
std::size_t warm_up_of(std::span<const Interval> intervals) {
  const std::size_t count = intervals.size();
  const std::size_t most = count / 2;
  double sum = 0;
  double squares = 0;
  // Relative to the last step, so that nothing cancels out.
  const double unit = std::max(step_s(intervals.back()), 1e-12);
  std::size_t best = kLeastWarmUp;
  double least = kInfinite;
  for (std::size_t at = count; at-- > kLeastWarmUp;) {
    const double x = step_s(intervals[at]) / unit - 1;
    sum += x;
    squares += x * x;
    const auto left = static_cast<double>(count - at);
    if (at > most) continue;
    const double error = std::max(0.0, squares - sum * sum / left) / (left * left);
    // Among equals the earliest cut wins, which keeps the most steps.
    if (error <= least) {
      least = error;
      best = at;
    }
  }
  return best;
}

/// The relative half width by `wanted` batches of about equal steps.
double half_width(std::span<const Interval> intervals, std::size_t wanted) {
  double steps = 0;
  double seconds = 0;
  for (const Interval& interval : intervals) {
    steps += interval.steps;
    seconds += interval.seconds;
  }
  std::vector<Interval> batches;
  Interval batch;
  double passed = 0;
  for (const Interval& interval : intervals) {
    batch.seconds += interval.seconds;
    batch.steps += interval.steps;
    passed += interval.steps;
    const auto full = static_cast<double>(batches.size() + 1) / static_cast<double>(wanted);
    // The end of a batch is where its share of the steps is passed, rounding forgiven.
    if (passed < full * steps * (1 - 1e-12)) continue;
    batches.push_back(batch);
    batch = {};
  }
  if (batches.size() < 2) return kInfinite;
  const auto count = static_cast<double>(batches.size());
  const double mean = seconds / steps;
  double squares = 0;
  for (const Interval& each : batches) squares += std::pow(each.seconds - mean * each.steps, 2);
  const double error = std::sqrt(squares / (count * (count - 1))) / (steps / count);
  return stats::student_two_tailed(kTails, count - 1) * error / mean;
}

}  // namespace

std::optional<StepRate> step_rate(std::span<const Interval> intervals) {
  if (intervals.size() < 3) return std::nullopt;
  StepRate made{.warm_up = warm_up_of(intervals)};
  made.settled = made.warm_up < std::max(intervals.size() / 2, kLeastWarmUp + 1);
  const std::span<const Interval> rest = intervals.subspan(made.warm_up);
  for (const Interval& interval : rest) {
    made.steps += interval.steps;
    made.seconds += interval.seconds;
  }
  if (!(made.seconds > 0)) return std::nullopt;
  made.step_s = made.seconds / made.steps;
  for (const std::size_t batches : {std::size_t{20}, std::size_t{10}}) {
    made.half_width = std::max(made.half_width, half_width(rest, batches));
  }
  return made;
}

bool Stopper::enough(std::span<const Interval> intervals) {
  if (intervals.size() < next_look_) return false;
  next_look_ = intervals.size() + std::max<std::size_t>(1, intervals.size() / 5);
  const std::optional<StepRate> rate = step_rate(intervals);
  const bool fine = rate && rate->settled && rate->half_width <= rule_.precision &&
                    rate->seconds >= rule_.least_s &&
                    intervals.size() - rate->warm_up >= rule_.least_count;
  const bool twice = fine && was_enough_;
  was_enough_ = fine;
  return twice;
}

}  // namespace almanac::profiling
