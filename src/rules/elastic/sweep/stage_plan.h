// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many GPUs each trial of a sweep has in each of its stages, so that the sweep ends in time
/// and takes the least GPU time.
///
/// The trials of a stage are alike, and as many run at a time as there are GPUs for; a stage begins
/// when the one before has ended. More GPUs make a trial faster, and each of them less useful: so
/// the plan spends GPUs where a second that is won costs least, mostly on the last stages, which
/// have few trials.
///
/// Source   Misra et al., EuroSys'21 (RubberBand), section 4.
/// Differs  The paper goes down greedily from the cheapest plan with one size for all stages; this
///          is exact. Times are means, where the paper samples stragglers.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

struct Stage {
  int trials = 0;
  double steps = 0;  ///< That each of them makes.
};

struct StageTerms {
  int gpus = 0;          ///< That the sweep may hold at a time.
  double restart_s = 0;  ///< Of each trial as a stage after the first begins.
  double left_s = 0;     ///< Until the deadline; infinite = there is none.
};

struct StagePlan {
  std::vector<int> gpus{};  ///< Of a trial in each stage; empty = no trial can run.
  double seconds = 0;
  double gpu_seconds = 0;
};

/// The plan that takes the least GPU time of those that end in time, of equal ones the fastest; the
/// fastest of all where none does. step_s[g]: seconds of a step on g GPUs; infinite = a trial
/// cannot have so many. O(stages x front x sizes), where the front is what no other plan so far
/// beats in both time and GPU time: some ms for 6 stages and 16 sizes.
StagePlan plan_stages(std::span<const Stage> stages, std::span<const double> step_s,
                      const StageTerms& terms);

}  // namespace almanac::elastic
