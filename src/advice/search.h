// SPDX-License-Identifier: Apache-2.0

/// \file
/// Searches the settings of a Slurm site for the changes that shorten waits most.
///
/// Successive halving: every value of every knob is first simulated on the busiest part of the
/// weeks, the better ones on a larger part, and the best on all of them.
///
/// Source   Jamieson and Talwalkar, AISTATS 2016 (successive halving).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "advice/change.h"
#include "advice/play.h"
#include "base/result.h"

namespace almanac::advice {

struct KnobSearch {
  /// At most kMost, the best first: each a different setting that shortens the waits of users
  /// (users_gain_of) by kWorth at least and keeps no job from starting. Where the log shows how
  /// certain that is, some gain is certain (95 %). The best of many look better than they are.
  std::vector<Change> changes{};
  /// All of `changes` made together; nothing if there are fewer than two.
  std::optional<Change> together{};
  std::size_t knobs = 0;        ///< Different settings tried.
  std::size_t candidates = 0;   ///< Values tried.
  std::size_t simulations = 0;  ///< Of these values; add_worth() takes more.
  std::int64_t jobs = 0;        ///< Simulated in all.

  static constexpr std::size_t kMost = 3;
  static constexpr double kWorth = 1.05;
};

/// Jobs that are few enough to simulate all candidates on all of them.
inline constexpr std::size_t kFewJobs = 5000;

/// `today` are the jobs of `play` under its site as it is. Logs of at most `few_jobs` jobs have no
/// smaller parts. Fails with `unavailable` when stopped. Does not depend on the number of threads.
/// Cost: one simulation for each candidate and part, and those of add_worth().
Result<KnobSearch> search_knobs(const Play& play, const std::vector<Lived>& today,
                                std::size_t few_jobs = kFewJobs);

}  // namespace almanac::advice
