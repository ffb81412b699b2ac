// SPDX-License-Identifier: Apache-2.0

/// \file
/// What one change of a Slurm site's settings would do, and to whom.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advice/gain.h"
#include "advice/groups.h"
#include "advice/play.h"
#include "advice/settings.h"
#include "base/result.h"

namespace almanac::advice {

/// What a change saves in nodes.
struct Worth {
  int nodes = 0;  ///< Today's.
  /// The fewest with which jobs wait no longer on average under today's settings than with the
  /// change on today's nodes; nothing if twice today's nodes do not suffice.
  std::optional<int> needed{};
};

struct Change {
  /// Settings whose value differs from today's; all that were asked for if none does.
  std::vector<Setting> settings{};
  std::vector<std::string> today{};  ///< Today's value of each setting.
  std::vector<Line> lines{};         ///< What makes the change on the real site.
  bool is_today = false;             ///< Every value is today's: nothing changes.
  std::int64_t never = 0;            ///< Jobs that start today, and would never start.
  std::int64_t newly = 0;            ///< Jobs that never start today, and would.
  /// Jobs that start with and without the change, by their position among those that count. All
  /// figures are theirs.
  std::vector<bool> compared{};
  std::int64_t jobs = 0;               ///< Number of them.
  std::vector<std::string> remarks{};  ///< What the simulation cannot show of it; sentences.
  Figures before{};
  Figures after{};
  Gain wait{};   ///< Of the mean wait.
  Gain jct{};    ///< Of the mean time to completion.
  Gain users{};  ///< See users_gain_of().
  std::vector<Group> groups{};
  std::vector<Group> losers{};
  std::optional<Worth> worth{};  ///< Set by add_worth().
};

/// Returns the waits before and after of the jobs that start in both.
std::vector<Waited> waited(const Play& play, const std::vector<Lived>& before,
                           const std::vector<Lived>& after);

/// Simulates the site of `play` with `settings` changed, and compares it with `today`. Fails with
/// usage for a value that cannot be right, and with `unavailable` when stopped. Cost: one
/// simulation.
Result<Change> change_of(const Play& play, const std::vector<Lived>& today,
                         std::span<const Setting> settings);

/// Returns "bf_max_job_test 2 -> 500, bf_continue no -> yes".
std::string in_words(const Change& change);

}  // namespace almanac::advice
