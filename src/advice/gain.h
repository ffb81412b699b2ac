// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much shorter waits become, and how certain that is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advice/play.h"

namespace almanac::advice {

/// Days with submissions below which the variation between days is unknown.
inline constexpr std::int64_t kFewestDays = 14;

/// Waits shorter than this are no trouble, whatever their ratio.
inline constexpr double kNoTrouble_s = 60;

/// NaN if there is nothing to average.
struct Figures {
  double avg_wait_s = 0;
  double p90_wait_s = 0;
  double p99_wait_s = 0;
  double avg_jct_s = 0;
  double p99_jct_s = 0;
};

/// The middle 95 % of the values for other days of the same kind (bootstrap over days, joined if a
/// queue lasts: stats/joined_days.h).
struct Interval {
  double from = 1;
  double to = 1;
};

/// How many times as long before a change.
struct Gain {
  double times = 1;
  /// Nothing if there are fewer days than kFewestDays, or one queue lasted.
  std::optional<Interval> sure{};
};

Figures figures_of(const std::vector<Lived>& lived);

/// Returns the sums of `field` before / after, over the jobs that start in both.
Gain gain_of(const Play& play, const std::vector<Lived>& before, const std::vector<Lived>& after,
             double Lived::*field, std::uint64_t seed);

/// Returns how much shorter users wait, over the same jobs: each user counts once, with the root
/// mean square of the waits of the user's jobs, so that one job that waits for days counts more
/// than many that wait for an hour. Less than a second counts as one. Jobs without a user are one
/// user.
Gain users_gain_of(const Play& play, const std::vector<Lived>& before,
                   const std::vector<Lived>& after, std::uint64_t seed);

}  // namespace almanac::advice
