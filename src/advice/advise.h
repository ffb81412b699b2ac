// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates the last weeks of a log under several policies, and reports what would have changed,
/// with what certainty, which users would lose, and what to do.
///
/// The first simulation is that of the Slurm that decides today, with the site's own settings if
/// these are known: how well it reproduces the log says how much the others mean. Two kinds of
/// change are compared with it: other policies, and other settings of the same Slurm.
///
/// All simulations are of the same jobs from the same time, a week before the weeks that count, so
/// that the cluster is not empty at their start (unless the log has less than three weeks). The
/// policies learn from earlier jobs, and count the earlier usage of owners. They continue to learn
/// run times. The site's current quotas bind all of them, including Slurm. Jobs that never ran wait
/// until their users withdrew them, and are excluded from all figures, because their run time is
/// unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advice/change.h"
#include "advice/gain.h"
#include "advice/groups.h"
#include "advice/play.h"
#include "advice/reproduction.h"
#include "advice/search.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "policy/composition.h"
#include "trace/trace.h"

namespace almanac::advice {

struct Outcome {
  std::string policy{};
  std::string summary{};  ///< Short description of the policy.
  Figures figures{};
  Gain wait{};
  Gain jct{};
  std::vector<Group> sizes{};   ///< Waits by size of the jobs, before and after.
  std::vector<Group> losers{};  ///< The largest loss first.
  std::int64_t users_losing = 0;
  std::optional<Group> hardest_hit{};  ///< The class of jobs whose mean wait grows most.
};

struct Advice {
  Time since{};
  Time until{};  ///< The last submission.
  std::int64_t jobs = 0;
  std::int64_t users = 0;
  std::int64_t days = 0;        ///< With submissions.
  std::int64_t never = 0;       ///< Could not start on this cluster under Slurm, and are left out.
  std::int64_t never_ran = 0;   ///< Left the queue without having run, and count in no figure.
  bool knows_eligible = false;  ///< See trace::Trace.
  bool knows_site = false;      ///< Slurm is simulated with the site's own settings.
  bool knows_limits = true;     ///< Slurm is simulated by time limits (see slurm_today()).
  std::optional<std::int64_t> quotas{};  ///< Number simulated; nothing if unknown.
  std::optional<Figures> real{};         ///< Recorded figures, if the log has them.
  Figures stock{};                       ///< Under today's Slurm, as simulated.
  /// How well the simulation of today's Slurm matches the log, if the log has starts.
  std::optional<Reproduction> reproduction{};
  std::vector<Outcome> outcomes{};  ///< In the requested order; without Slurm itself.
  /// Best of the outcomes; nothing to keep the current policy, or if there are too few days.
  std::optional<std::size_t> best{};
  std::optional<Change> what_if{};    ///< The change that was asked for.
  std::optional<KnobSearch> knobs{};  ///< If Slurm's settings were searched.
  /// Whether the simulated waits of Slurm match the recorded ones: the mean within 10 %, the p99
  /// within a factor of 1.5. Without recorded waits, whether the nodes are known. If false, the
  /// figures describe a model that is not this cluster, and so does `best`.
  bool reproduces = true;
  std::string recommendation{};
  std::vector<std::string> assumptions{};  ///< Conditions for the figures to be right.
  std::vector<std::string> cautions{};
};

struct Question {
  Duration weeks = 24h * 28;  ///< Length of the period before the last submission.
  std::vector<policy::Composition> policies{};
  /// Settings to change together; empty for none. Requires a site.
  std::vector<Setting> what_if{};
  /// Requires a site. Without effect if there are fewer than kFewestDays, or jobs hardly wait.
  bool search_knobs = false;
  Conditions conditions{};
};

/// If no job names a virtual cluster, all nodes form one that takes every job. Fails with
/// `unavailable` if no job ran in these weeks, and when stopped; with usage for a value in
/// `what_if` that cannot be right.
Result<Advice> advise(trace::Trace log, const cluster::Cluster& cluster, const Question& question);

}  // namespace almanac::advice
