// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs of jobs so that they end soon, chosen by playing forward what each of several deals leads
/// to.
///
/// A deal gives GPUs where they add most speed, weighed by how little a job has left: by
/// work^-exponent. An exponent of 0 makes the most speed, a large one ends short jobs first. Which
/// is best depends on the jobs: so each is played forward, without new jobs, until all have ended.
///
/// Source   ours. The weights are between those of AFS (Hwang et al., NSDI'21) and of heSRPT (Berg
///          et al., SIGMETRICS'20), for which all jobs speed up alike.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

struct AheadJob {
  double work_s = 0;  ///< Left, at the speed of one GPU; above 0.
  double age_s = 0;   ///< Since its submission.
  /// On 0, 1, 2 ... GPUs, beside one GPU; 0 = it is never given so many.
  std::vector<double> speeds{};
  int present = 0;           ///< GPUs that it holds.
  double present_speed = 0;  ///< On those, where they lie.
};

struct AheadTerms {
  double restart_s = 30;   ///< What it costs a job to be given another number of GPUs.
  double horizon_s = 900;  ///< For how long GPUs are believed to stay, at most.
  double tail = 1.15;      ///< Power of the times that are summed: above 1 late jobs count more.
};

/// GPUs of each job. O(jobs^2 x sizes x exponents), some ms for 30 jobs and 20 sizes.
std::vector<int> deal_ahead(std::span<const AheadJob> jobs, int gpus, const AheadTerms& terms = {});

}  // namespace almanac::elastic
