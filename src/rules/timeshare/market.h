// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many of the next rounds each job is to have, so that the product of what all have trained by
/// then is large, the last to end ends early, and none ends later than on a part of the cluster of
/// its own.
///
/// Source   Zheng et al., NSDI'23 (Shockwave), sections 5 and 6: a Fisher market over a window of
///          rounds, with a regularizer for the makespan; constants of its published program.
/// Differs  There a program in whole numbers says for each round whether a job runs, and what its
///          solver finds in 15 s is taken. Rounds of a job are worth the less the more it has, and
///          none is worth more than another: here rounds are sold one by one, dearest first, for
///          each run time that may be left at most, and dealt out afterwards. A clock decides
///          nothing. Where not all can end in time, how late a job is counts from its end were it
///          to run from now on.
#pragma once

#include <cstddef>
#include <vector>

namespace almanac::timeshare {

/// A job that buys rounds.
struct Buyer {
  int gpus = 1;
  double done = 0;    ///< The part of its training that is done, 0 to 1.
  double left_s = 0;  ///< Run time that it has left, above 0.
  double weight = 1;
  double least_s = 0;  ///< Run time that it must have, as far as it can have it.

  friend bool operator==(const Buyer&, const Buyer&) = default;
};

struct Window {
  double gpus = 0;
  int rounds = 20;
  double round_s = 120;
  /// What a second less of the longest run time left at the end is worth, beside the logarithm of
  /// what is done, in the mean over jobs and rounds.
  double makespan_worth = 1e-3;
  /// Where not all can end in time, a job that would end at `ratio` times its time weighs
  /// ratio^power; with less than a round left, ratio^last_power.
  double power = 12;
  double last_power = 100;
};

/// Rounds of each buyer; nothing = there are not the GPUs for what they must have. Of buyers of one
/// GPU it is the best answer, but for what rounding does to the trade between progress and
/// makespan. Cost: O(n r log(n r)) for n buyers and r rounds.
std::vector<int> buy_rounds(const Window& window, const std::vector<Buyer>& buyers);

/// The buyers that run in each round, so that each has its rounds as far as GPUs fit: those first
/// that could not have them all later, then those that stand first.
std::vector<std::vector<std::size_t>> deal_rounds(const Window& window,
                                                  const std::vector<Buyer>& buyers,
                                                  std::vector<int> rounds);

/// A job, and when it would end on a part of the cluster of its own.
struct Claim {
  int gpus = 1;
  double age_s = 0;       ///< Since it was submitted.
  double done = 0;        ///< The part of its training that is done, 0 to 1.
  double left_s = 0;      ///< Run time that it has left, above 0.
  double fair_jct_s = 0;  ///< From its submission to the end on a part of its own, above 0.
};

/// The places in `claims` that run in each round of the window: so that the sum over jobs of weight
/// x mean round is small, as the published program orders them where not all can end in time; of
/// equals those first with the least left.
std::vector<std::vector<std::size_t>> plan_rounds(const Window& window,
                                                  const std::vector<Claim>& claims);

/// When a job would end on a part of the cluster of its own, which changes as others come and go:
/// what was estimated counts as long as it was the latest, and the last estimate a tenth for
/// itself.
class FairEnd {
 public:
  void estimate(double end_s, double now_s);
  double at(double now_s) const;

 private:
  double latest_s_ = 0;
  double since_s_ = 0;
  double sum_ = 0;  // of estimates x the time that they were the latest
  double time_s_ = 0;
};

}  // namespace almanac::timeshare
