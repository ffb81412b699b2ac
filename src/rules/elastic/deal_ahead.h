// SPDX-License-Identifier: Apache-2.0

/// \file
/// Divides GPUs so that jobs end soon, by simulating what each of several divisions leads to.
///
/// A division gives GPUs to the jobs whose speed grows most, weighted by work^-exponent. Exponent 0
/// maximizes total speed; a large exponent ends short jobs first. The best exponent depends on the
/// jobs, so each one is simulated, without new jobs, until all jobs have ended.
///
/// Source   Our own. The weights lie between those of AFS (Hwang et al., NSDI'21) and heSRPT (Berg
///          et al., SIGMETRICS'20), which assumes the same speed-up for all jobs.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

struct AheadJob {
  double work_s = 0;  ///< Remaining work at the speed of one GPU; above 0.
  double age_s = 0;   ///< Time since submission.
  /// Speed on 0, 1, 2 ... GPUs, relative to one GPU; 0 forbids that number.
  std::vector<double> speeds{};
  int present = 0;           ///< GPUs that it holds.
  double present_speed = 0;  ///< Speed on those GPUs, where they are.
};

struct AheadTerms {
  double restart_s = 30;   ///< Cost for a job whose number of GPUs changes.
  double horizon_s = 900;  ///< Longest time for which an allocation is assumed to stay.
  double tail = 1.15;      ///< Exponent of the summed completion times; above 1 favors late jobs.
};

/// Returns the GPUs of each job. O(jobs^2 x sizes x exponents): some ms for 30 jobs with 20 sizes.
std::vector<int> deal_ahead(std::span<const AheadJob> jobs, int gpus, const AheadTerms& terms = {});

}  // namespace almanac::elastic
