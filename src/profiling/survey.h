// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plans the fewest runs that tell how a job's speed depends on what it is given.
///
///   batch       GENIE's B runs on one GPU with all cores: the least, the greatest that runs (its
///               "b*"), then from the middle until a measurement is as the fitted step says
///   GPUs        GENIE's G runs at b*: the most, two, then others until one is as fitted
///   cores       at b* on one GPU, from all cores by halves while nothing changes (Synergy's
///               optimistic profiling), then to the knee: where the speed so far says it is, and by
///               one core from there (CODA); below the knee by halves until one is as expected
///   memory      each amount that is asked for, at b*, one GPU, all cores
///   neighbour   one run beside it, each with cores of its own where that leaves both enough
///
/// Source   Chen et al., GENIE, TPDS 2020, section 5.1.5; Mohan et al., Synergy, OSDI'22, the
///          artifact's offline profiler; Zhao et al., CODA, ICDCS 2020 (one core a step).
/// Differs  GENIE runs all of B, N and G. Synergy goes down by one core a GPU once speed changes,
///          and calls 10 % alike: here halves and 2 %, since each run is known to 2 %. Nodes beyond
///          this machine cannot be had.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiling/condition.h"
#include "profiling/watch.h"

namespace almanac::profiling {

/// What may be varied. Lists rise.
struct Question {
  std::vector<double> batches{1};
  bool batch_of_a_gpu = false;  ///< Batches are of each GPU, and stay so when GPUs are added.
  std::vector<int> gpus{1};     ///< 1 is tried in any case.
  int most_cpus = 1;
  bool vary_cpus = true;
  std::vector<double> memories_gb{};
  bool neighbour = false;
};

/// A run under a condition. A throughput of 0: it did not run so, and `said` tells why.
struct Measured {
  Condition condition{};
  double throughput = 0;  ///< Samples a second.
  double low = 0;         ///< Of the 95 % interval.
  double high = 0;
  double steps = 0;
  double seconds = 0;  ///< Of the whole run.
  RunUse use{};
  std::string said{};
};

/// Fails when nothing more can be measured: the budget is spent, the user has had enough.
using Measure = std::function<Result<Measured>(const Condition&)>;

struct Survey {
  std::vector<Measured> runs{};      ///< Each condition once, in the order of the runs.
  Condition home{};                  ///< Greatest batch that runs, one GPU, all cores.
  std::optional<int> enough_cpus{};  ///< The fewest cores that are as fast as all.
  std::optional<Error> cut_short{};

  const Measured* find(const Condition& condition) const;
};

/// Deterministic in what `measure` gives. The first condition must run: else that is all.
Survey survey(const Question& question, const Measure& measure);

/// The runs for a job as most are: a step of a fixed part and one by the batch, needs a quarter of
/// the cores. Of a real one they hang on what is measured.
std::vector<Condition> usual_plan(const Question& question);

}  // namespace almanac::profiling
