// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays the last weeks of a log under several policies and says what would have changed, how sure
/// that is, which users would lose, and what to do.
///
/// All policies are played on the same jobs from the same moment, a week before the weeks that
/// count, so that the cluster is not empty when they begin (not where the log has less than
/// three weeks); the policies learn from earlier jobs, and count what their owners used. They go on
/// learning run times as the weeks go by. The site's quotas bind all of them, stock Slurm
/// too, as they are today. Jobs that never ran, because their users withdrew them, wait until then
/// and count in no figure: it is not known how long they would have run.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "advice/progress.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "experiment/past.h"
#include "policy/composition.h"
#include "trace/trace.h"

namespace almanac::advice {

/// So much of the log before the weeks that count is looked at: to be played, then to be learned
/// from. What users did earlier says less, and learning from years takes long.
inline constexpr Duration kLooksBack = 24h * 7 * 9;

/// NaN where there is nothing to average.
struct Figures {
  double avg_wait_s = 0;
  double p99_wait_s = 0;
  double avg_jct_s = 0;
  double p99_jct_s = 0;
};

/// The middle 95 % of what other days of the same kind would have given (bootstrap over days,
/// joined where a queue lasts: stats/joined_days.h).
struct Interval {
  double from = 1;
  double to = 1;
};

/// How many times as long under stock Slurm.
struct Gain {
  double times = 1;
  /// Nothing where there are fewer days than kFewestDays, or one queue lasted.
  std::optional<Interval> sure{};
};

/// Days with submissions, below which nobody can say how much days differ.
inline constexpr std::int64_t kFewestDays = 14;

/// Jobs that would wait longer on average, by kRatio and kMore at least.
struct Loser {
  std::string who{};  ///< "user ann", "jobs of 9 to 16 GPUs", "jobs in gpu".
  bool is_user = false;
  std::int64_t jobs = 0;
  double before_s = 0;
  double after_s = 0;

  double more_s() const { return after_s - before_s; }

  static constexpr double kRatio = 1.25;
  static constexpr double kMore_s = 600;
  static constexpr std::int64_t kFewest = 10;  ///< Of fewer jobs an average says nothing.
};

struct Outcome {
  std::string policy{};
  std::string summary{};  ///< What the policy is, in half a line.
  Figures figures{};
  Gain wait{};
  Gain jct{};
  std::vector<Loser> losers{};  ///< Those that lose most first.
  std::int64_t users_losing = 0;
  std::optional<Loser> hardest_hit{};  ///< The class of jobs whose mean wait grows most.
};

struct Advice {
  Time since{};
  Time until{};  ///< The last submission.
  std::int64_t jobs = 0;
  std::int64_t users = 0;
  std::int64_t days = 0;   ///< With submissions.
  std::int64_t never = 0;  ///< Could not start on this cluster under stock Slurm, and are left out.
  std::int64_t never_ran = 0;   ///< Left the queue without having run, and count in no figure.
  bool knows_eligible = false;  ///< As trace::Trace.
  std::optional<std::int64_t> quotas{};  ///< That were played; nothing = they are not known.
  std::optional<Figures> real{};         ///< What happened, where the log tells.
  Figures stock{};
  std::vector<Outcome> outcomes{};  ///< In the order asked; without stock Slurm's.
  /// Of the outcomes; nothing = stay as it is, or there are too few days to say.
  std::optional<std::size_t> best{};
  /// Whether the waits simulated for stock Slurm are the real ones within 10 % of the mean and a
  /// factor of 1.5 of the p99; if the log does not tell those, whether its nodes are known. If
  /// false, all else is of a model that is not this cluster, and `best` of the model only.
  bool reproduces = true;
  std::string recommendation{};
  std::vector<std::string> assumptions{};  ///< What must be true for the figures to be.
  std::vector<std::string> cautions{};
};

struct Question {
  Duration weeks = 24h * 28;  ///< So long before the last submission it begins.
  std::vector<policy::Composition> policies{};
  std::optional<experiment::SiteQuotas> quotas{};  ///< Nothing = they are not known, and none is
                                                   ///< played.
  /// Jobs of services that no policy takes anything from.
  std::unordered_set<trace::JobKey> kept{};
  /// Of all policies but stock Slurm, as policy::age_capped() takes it.
  Duration age_cap = kNoDuration;
  std::uint64_t seed = 0;
  const std::atomic<bool>* stop = nullptr;
  Progress* progress = nullptr;  ///< Of as many simulations as policies and one; null = not wanted.
};

/// Where no job names a virtual cluster, all nodes are one that takes every job.
/// Fails with unavailable where the weeks have no job that ran, and when it was stopped.
Result<Advice> advise(trace::Trace log, const cluster::Cluster& cluster, const Question& question);

}  // namespace almanac::advice
