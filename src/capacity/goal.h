// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a cluster must reach: "p90 wait < 1h".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace almanac::capacity {

enum class Measure : std::uint8_t {
  wait,        ///< Time not running between joining the queue and the end.
  completion,  ///< Time between joining the queue and the end.
  slowdown,    ///< max(1, completion / max(run, 10 s)); Feitelson & Rudolph 1998.
};

struct Goal {
  std::optional<double> quantile{};  ///< 0 .. 1 (1 = the maximum); nothing = the mean.
  Measure measure = Measure::wait;
  double bound = 0;        ///< Seconds; a ratio for slowdown.
  bool inclusive = false;  ///< Whether the bound itself reaches the goal ("<=").

  /// Returns the measure of one job in seconds, or as a ratio.
  double measured(Duration waited, Duration completion, Duration run) const;
  /// Returns the statistic; NaN without values. Reorders `values`.
  double statistic(std::span<double> values) const;
  bool is_met(double value) const { return inclusive ? value <= bound : value < bound; }

  /// Returns "p90 wait", "mean slowdown".
  std::string name() const;
  /// Returns the goal as parse_goal() reads it: "p90 wait < 1h 00m".
  std::string text() const;
  /// Formats a value of the statistic: "3h 20m", "2.41"; "never" for infinity, "-" for NaN.
  std::string shown(double value) const;
};

/// Parses STATISTIC MEASURE < BOUND. STATISTIC is mean, median, max or pNN; MEASURE is wait,
/// completion or slowdown; BOUND is a duration ("1h"), or a number for slowdown. "<=" is allowed.
/// Fails with usage.
Result<Goal> parse_goal(std::string_view text);

}  // namespace almanac::capacity
