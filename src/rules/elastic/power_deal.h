// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many GPUs each job shall have, and with which power limit, so that jobs end soon within a
/// budget of power.
///
/// All begin on the fewest GPUs with the limit under which these do most for their energy, as far
/// as there is room. Then, step by step, the job gains more GPUs or a higher limit whose end comes
/// nearer most for the energy that this takes, until GPUs or power are used up. Last, what one job
/// gives up goes to another as long as that brings the sum of their ends nearer. The same is tried
/// with steps paid in power and in GPUs; the best counts.
///
/// Source   Gu et al., 2023 (PowerFlow), as far as its abstract tells: energy-efficient points
/// first,
///          then the best reduction of completion time for the energy. All else is ours: without it
///          a budget that the next step does not fit stays unused.
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

/// A way in which a job may run.
struct PowerWay {
  int gpus = 1;
  double watts = 0;   ///< That all of these draw.
  double left_s = 0;  ///< Until the job would end.

  double energy_j() const { return watts * left_s; }
};

/// Which of its ways each job gets; -1 = none, it waits. Earlier jobs come first where not all get
/// one, and the first gets one even if the budget is too small for any. Ways of a job are in order
/// of GPUs and, of as many GPUs, of watts. O(steps x ways of all jobs), and for each exchange
/// O(jobs x ways of all jobs).
std::vector<int> deal_power(std::span<const std::vector<PowerWay>> jobs, int gpus, double watts);

}  // namespace almanac::elastic
