// SPDX-License-Identifier: Apache-2.0

/// \file
/// When will this job start and end? Simulates many futures of one instant.
///
/// In each future every running or waiting job gets a run time, drawn from its prediction at
/// submission; for a running job, on condition that it has not ended yet. The same engine and the
/// same policy then continue until the job in question has ended.
///
/// No future includes later jobs that go ahead, correlated run times (the jobs of one sweep), or
/// nodes that will fail. docs/guide/qos.md says how much that matters.
///
/// Cost     a simulation each of what runs and waits now, and O(jobs of the trace) to set it up.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/time.h"
#include "cluster/cluster.h"
#include "policy/composition.h"
#include "predict/estimator.h"
#include "sim/present.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::kueue {
struct Objects;
}
namespace almanac::site {
struct Site;
}

namespace almanac::forecast {

/// What was believed about a job when it arrived.
struct Belief {
  /// Distribution of its run time; without one, the number counts as certain.
  predict::Belief likely;
  predict::Belief own{};            ///< By the policy's own estimate.
  Duration most = Duration::max();  ///< Run time at which it is ended: its time limit.
  /// Weight of a guess in `likely`, 0 .. 1: the less is known of such jobs, the more.
  double guessed = 0;
};
using Beliefs = std::unordered_map<JobId, Belief>;

/// The policy that decides, its cluster, and its jobs.
struct Setting {
  const trace::Trace& trace;  ///< An Outcome's run time, start, end and state are not read.
  const cluster::Cluster& cluster;
  const policy::Composition& composition;
  sim::Options options{};  ///< Restart costs, speeds, seed.
  /// Speed of the job in question, relative to the speed at which its run time is believed; the
  /// policy scales its run time accordingly. With `options.truth.speeds`, those determine its real
  /// speed; otherwise its run is scaled.
  double rate = 1;
  /// Jobs of services, from which no policy takes anything (policy::Keeping). Their end is
  /// predicted like that of any other job.
  std::unordered_set<JobId> kept{};
  Duration age_cap = kNoDuration;                  ///< See policy::age_capped().
  std::shared_ptr<const site::Site> site{};        ///< See policy::KnownSite; null for none.
  std::shared_ptr<const kueue::Objects> queues{};  ///< Likewise.
  /// Jobs whose run times are drawn, if more than those of the present: so that two presents have
  /// the same draws for the jobs that are in both. Null for those of the present.
  const sim::Present* drawn = nullptr;
};

/// Time never comes for a job that does not start, or end.
inline Time or_never(Time at) { return at == kNoTime ? kNever : at; }

/// Starts and ends of one job, a pair for each future, each in order of time.
class Forecast {
 public:
  Forecast(Time at, std::vector<Time> starts, std::vector<Time> ends);

  Time at() const { return at_; }
  /// An interval between two of the values that contains the truth with probability at least
  /// `share`, if the truth is another draw of the same kind.
  struct Stretch {
    Time from{};
    Time to{};
  };
  Stretch start(double share) const { return central(starts_, share); }
  Stretch end(double share) const { return central(ends_, share); }
  /// By when it has started, has ended with probability `share` or somewhat more.
  Time started_by(double share) const { return by(starts_, share); }
  Time ended_by(double share) const { return by(ends_, share); }
  /// In how many of the futures it has ended by then.
  double chance_to_end_by(Time deadline) const;

 private:
  static Stretch central(const std::vector<Time>& sorted, double share);
  static Time by(const std::vector<Time>& sorted, double share);

  Time at_;
  std::vector<Time> starts_;
  std::vector<Time> ends_;
};

/// Draws a run time from `belief`, longer than `worked`. If a job has run longer than anything
/// believed possible: up to twice as long.
Duration draw_run(const predict::Belief& belief, Duration worked, double uniform);

/// Forecasts `job`, which waits in `present`, or for room in its array. Requires beliefs for all
/// jobs of `present`. Deterministic in its arguments.
Forecast play_futures(const Setting& setting, const sim::Present& present, const Beliefs& beliefs,
                      JobId job, int futures, std::uint64_t seed);

/// Returns whether the policy starts `job`, which waits in `present`, when it decides there.
/// Believes that each job takes its median run time; no running job ends at that instant.
bool starts_at_once(const Setting& setting, const sim::Present& present, const Beliefs& beliefs,
                    JobId job);

/// Forecasts every job that waits in `present`, in that order, then every running job, whose start
/// is in the past, then every task that waits for room in its array; one set of futures serves all.
/// Empty if Options::stop of the setting has become true.
std::vector<Forecast> play_queue(const Setting& setting, const sim::Present& present,
                                 const Beliefs& beliefs, int futures, std::uint64_t seed);

}  // namespace almanac::forecast
