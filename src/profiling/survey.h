// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures how a job's speed depends on its resources, in as few runs as possible.
///
///   batch       on one GPU with all cores (GENIE's B runs): the smallest, the largest that runs
///               (GENIE's b*), then others from the middle outward, until the fitted step time
///               predicts one of them
///   GPUs        at b* (GENIE's G runs): the most, two, then others, until the fit predicts one
///   cores       at b* on one GPU: all, then half each time while the speed stays the same
///               (Synergy's optimistic profiling); then the knee, at the number that the speeds so
///               far imply and by one core from there (CODA); below the knee half each time, until
///               the speed is proportional to the cores
///   memory      each requested amount, at b* on one GPU with all cores
///   neighbor    one run next to it; each job has its own cores if there are enough for both
///
/// Source   Chen et al., GENIE, TPDS 2020, section 5.1.5; Mohan et al., Synergy, OSDI'22, the
///          artifact's offline profiler; Zhao et al., CODA, ICDCS 2020 (one core a step).
/// Differs  GENIE runs all of B, N and G; N needs several machines. Once the speed changes, Synergy
///          removes one core per GPU at a time, and it treats speeds within 10 % as equal. Almanac
///          halves the cores and treats speeds within 2 % as equal, because it measures each run
///          to 2 %.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiling/condition.h"
#include "profiling/watch.h"

namespace almanac::profiling {

/// What to vary. Lists ascend.
struct Question {
  std::vector<double> batches{1};
  bool batch_of_a_gpu = false;  ///< Batches are per GPU, also with more GPUs.
  std::vector<int> gpus{1};     ///< 1 is always measured.
  int most_cpus = 1;
  bool vary_cpus = true;
  std::vector<double> memories_gb{};
  bool neighbour = false;
};

/// A run under a condition. A throughput of 0 means that it did not run; `said` has the reason.
struct Measured {
  Condition condition{};
  double throughput = 0;  ///< Samples per second.
  double low = 0;         ///< Begin of the 95 % interval.
  double high = 0;        ///< Its end.
  double steps = 0;
  double seconds = 0;  ///< Of the whole run.
  RunUse use{};
  std::string said{};
};

/// Measures one condition. Fails when nothing more can be measured: the budget is used up, or the
/// user interrupts.
using Measure = std::function<Result<Measured>(const Condition&)>;

struct Survey {
  std::vector<Measured> runs{};      ///< One for each condition, in the order of the runs.
  Condition home{};                  ///< Largest batch that runs, one GPU, all cores.
  std::optional<int> enough_cpus{};  ///< The fewest cores with which the job is as fast as with
                                     ///< all.
  std::optional<Error> cut_short{};  ///< Why not all was measured.

  /// Returns the run under `condition`; null if there is none.
  const Measured* find(const Condition& condition) const;
};

/// Deterministic in the results of `measure`. If the first condition does not run, no other is
/// measured. The first run is repeated if it read more than 0.05 GB from disk: its cache was cold.
Survey survey(const Question& question, const Measure& measure);

/// Returns the runs for a typical job, whose step has a fixed part and one proportional to the
/// batch, and which needs a quarter of the cores. The runs for a real job depend on its speeds.
std::vector<Condition> usual_plan(const Question& question);

}  // namespace almanac::profiling
