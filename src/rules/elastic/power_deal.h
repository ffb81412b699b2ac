// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the number of GPUs and the power limit of each job, so that jobs end soon within a power
/// budget.
///
/// Each job starts on its fewest GPUs, with the limit that needs the least energy, while there is
/// room. Step by step, the job whose end moves closest for the added energy gets more GPUs or a
/// higher limit, until GPUs or power run out. Finally, jobs give up GPUs or power to others as long
/// as that lowers the sum of remaining times. The same is tried with steps priced in power and in
/// GPUs, and the best result counts.
///
/// Source   Gu et al., 2023 (PowerFlow), as far as its abstract describes it: energy-efficient
///          points first, then the best reduction of completion time for the energy. The rest is
///          our own; without it, a budget that is too small for the next step stays unused.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

/// One configuration in which a job may run.
struct PowerWay {
  int gpus = 1;
  double watts = 0;   ///< Power of all these GPUs.
  double left_s = 0;  ///< Time until the job would end.

  double energy_j() const { return watts * left_s; }
};

/// Returns the position of the chosen way of each job, or -1 if it waits. Earlier jobs come first
/// if not all can run, and the first job runs even if the budget is too small for any way. The ways
/// of a job must be sorted by GPUs, then by watts.
/// Cost     O(steps x ways of all jobs), and O(jobs x ways of all jobs) per exchange
std::vector<int> deal_power(std::span<const std::vector<PowerWay>> jobs, int gpus, double watts);

}  // namespace almanac::elastic
