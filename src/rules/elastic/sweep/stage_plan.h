// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plans the GPUs of each trial in each stage of a sweep, so that the sweep ends in time with the
/// least GPU time.
///
/// The trials of a stage are equal, and as many run at once as there are GPUs for. A stage begins
/// when the one before has ended. More GPUs make a trial faster, but each further GPU less useful.
/// So the plan spends GPUs where a second gained costs least, mostly on the last stages, which have
/// few trials.
///
/// If GPUs are paid for by whole instances, a stage costs all GPUs of the instances that it needs
/// from its beginning to its end, so trials are widened to use what is paid for. A stage that needs
/// more instances than the one before also waits, and pays, until they have booted.
///
/// Source   Misra et al., EuroSys'21 (RubberBand), section 4.
/// Differs  The paper descends greedily from the cheapest plan with one size for all stages; this
///          plan is exact. Times are means; the paper samples stragglers.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

struct Stage {
  int trials = 0;
  double steps = 0;  ///< Of each trial.
};

struct StageTerms {
  int gpus = 0;           ///< Most GPUs of the sweep at a time.
  double restart_s = 0;   ///< Of each trial at the start of each stage but the first.
  double left_s = 0;      ///< Time until the deadline; infinite without one.
  int instance_gpus = 0;  ///< GPUs of an instance; 0 if each trial pays for its own GPUs only.
  double boot_s = 0;      ///< Time until a further instance can be used.
  int booted = 0;         ///< Instances that the sweep has already.
};

struct StagePlan {
  std::vector<int> gpus{};  ///< Of a trial, by stage; empty if no trial can run.
  double seconds = 0;
  double gpu_seconds = 0;  ///< That are paid for.
};

/// Returns the plan with the least GPU time that ends in time, the fastest of equals; the fastest
/// of all if none ends in time. step_s[g] is the seconds of a step on g GPUs; infinite if a trial
/// cannot have that many. O(stages x front x sizes), where the front is the plans that no other
/// beats in both time and GPU time, or in the number of instances: some ms for 6 stages and 16
/// sizes.
StagePlan plan_stages(std::span<const Stage> stages, std::span<const double> step_s,
                      const StageTerms& terms);

}  // namespace almanac::elastic
