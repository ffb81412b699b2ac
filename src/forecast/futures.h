// SPDX-License-Identifier: Apache-2.0

/// \file
/// When will this job start and end? Plays many futures of one instant and counts.
///
/// In each future every job that runs or waits is given a run time drawn from what was believed of
/// it when it came, of one that runs already given that it has not ended yet; the same engine and
/// the same policy then play on until the job in question has ended.
///
/// What no future knows: jobs that are yet to come and go ahead, run times that hang together (the
/// jobs of one sweep), nodes that will fail. docs/guide/qos.md says how much that matters.
///
/// Cost     a simulation each of what runs and waits now, and O(jobs of the trace) to set it up.
#pragma once

#include <cstdint>
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

namespace almanac::forecast {

/// What was believed of a job when it came.
struct Belief {
  predict::Belief likely;  ///< How likely each run time is; without a distribution the number is
                           ///< taken for certain.
  predict::Belief own{};   ///< By the estimate of the policy.
  Duration most = Duration::max();  ///< It is ended when it has run for so long.
};
using Beliefs = std::unordered_map<JobId, Belief>;

/// The policy that decides, its cluster, and its jobs.
struct Setting {
  const trace::Trace& trace;  ///< An Outcome's run time, start, end and state are not read.
  const cluster::Cluster& cluster;
  const policy::Composition& composition;
  sim::Options options{};  ///< Restart costs, speeds, seed.
  /// Speed that the job in question is to have, beside that at which its run time is believed: the
  /// policy takes it for so much shorter. Where there are `options.truth.speeds`, how fast it runs
  /// is for them to say; else its run is so much shorter.
  double rate = 1;
  /// Jobs of services that no policy takes anything from (policy::Keeping). That they end is
  /// believed of them as of any other.
  std::unordered_set<JobId> kept{};
  Duration age_cap = kNoDuration;  ///< As policy::age_capped() takes it.
};

/// Time never comes for a job that does not start, or end.
inline Time or_never(Time at) { return at == kNoTime ? kNever : at; }

/// Starts and ends of one job, a pair for each future, each in order of time.
class Forecast {
 public:
  Forecast(Time at, std::vector<Time> starts, std::vector<Time> ends);

  Time at() const { return at_; }
  /// A stretch that holds the truth with probability `share` or somewhat more, if the truth is
  /// another draw of the same kind: from one of the values to another.
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

/// A run time drawn from `belief`, longer than `worked`. Of a job that has run longer than anything
/// that was believed possible: up to as long again.
Duration draw_run(const predict::Belief& belief, Duration worked, double uniform);

/// Of `job`, which waits in `present`. Beliefs must be there of all that run and wait. Same
/// arguments, same forecast.
Forecast play_futures(const Setting& setting, const sim::Present& present, const Beliefs& beliefs,
                      JobId job, int futures, std::uint64_t seed);

/// Of every job that waits in `present`, in that order, behind them of every one that runs, whose
/// start is behind it: one set of futures serves all. None where Options::stop of the setting has
/// become true.
std::vector<Forecast> play_queue(const Setting& setting, const sim::Present& present,
                                 const Beliefs& beliefs, int futures, std::uint64_t seed);

}  // namespace almanac::forecast
