// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates the last weeks of a log under several policies, and reports what would have changed,
/// with what certainty, which users would lose, and what to do.
///
/// All policies are simulated on the same jobs from the same time, a week before the weeks that
/// count, so that the cluster is not empty at their start (unless the log has less than three
/// weeks). The policies learn from earlier jobs, and count the earlier usage of owners. They
/// continue to learn run times. The site's current quotas bind all of them, including stock Slurm.
/// Jobs that never ran wait until their users withdrew them, and are excluded from all figures,
/// because their run time is unknown.
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

/// How much of the log before the weeks that count is used: to be simulated, then to be learned
/// from. Earlier jobs say less, and learning from years takes long.
inline constexpr Duration kLooksBack = 24h * 7 * 9;

/// NaN if there is nothing to average.
struct Figures {
  double avg_wait_s = 0;
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

/// How many times as long under stock Slurm.
struct Gain {
  double times = 1;
  /// Nothing if there are fewer days than kFewestDays, or one queue lasted.
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
  static constexpr std::int64_t kFewest = 10;  ///< An average of fewer jobs says nothing.
};

struct Outcome {
  std::string policy{};
  std::string summary{};  ///< Short description of the policy.
  Figures figures{};
  Gain wait{};
  Gain jct{};
  std::vector<Loser> losers{};  ///< The largest loss first.
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
  bool knows_eligible = false;  ///< See trace::Trace.
  std::optional<std::int64_t> quotas{};  ///< Number simulated; nothing if unknown.
  std::optional<Figures> real{};         ///< Recorded figures, if the log has them.
  Figures stock{};
  std::vector<Outcome> outcomes{};  ///< In the requested order; without stock Slurm.
  /// Best of the outcomes; nothing to keep the current policy, or if there are too few days.
  std::optional<std::size_t> best{};
  /// Whether the simulated waits of stock Slurm match the recorded ones: the mean within 10 %, the
  /// p99 within a factor of 1.5. Without recorded waits, whether the nodes are known. If false, the
  /// figures describe a model that is not this cluster, and so does `best`.
  bool reproduces = true;
  std::string recommendation{};
  std::vector<std::string> assumptions{};  ///< Conditions for the figures to be right.
  std::vector<std::string> cautions{};
};

struct Question {
  Duration weeks = 24h * 28;  ///< Length of the period before the last submission.
  std::vector<policy::Composition> policies{};
  /// Nothing if unknown; none is simulated then.
  std::optional<experiment::SiteQuotas> quotas{};
  /// Jobs of services that no policy takes anything from.
  std::unordered_set<trace::JobKey> kept{};
  /// For all policies except stock Slurm, see policy::age_capped().
  Duration age_cap = kNoDuration;
  std::uint64_t seed = 0;
  const std::atomic<bool>* stop = nullptr;
  /// Of as many simulations as policies plus one; null for none.
  Progress* progress = nullptr;
};

/// If no job names a virtual cluster, all nodes form one that takes every job. Fails with
/// `unavailable` if no job ran in these weeks, and when stopped.
Result<Advice> advise(trace::Trace log, const cluster::Cluster& cluster, const Question& question);

}  // namespace almanac::advice
