// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses how many of the next rounds each job gets. The product of all jobs' progress should be
/// large, the last job should end early, and no job should end later than on its own share of the
/// cluster.
///
/// Source   Zheng et al., NSDI'23 (Shockwave), sections 5 and 6: a Fisher market over a window of
///          rounds, with a regularizer for the makespan; constants of its published program.
/// Differs  The published program solves an integer program over jobs and rounds, and takes what
///          the solver finds in 15 s. A job's rounds are worth less the more it has, and all rounds
///          of the window are alike. So this program sells rounds one by one, the most valuable
///          first, for each bound on the remaining run time, and deals them out afterwards. No
///          clock decides. If not all jobs can end in time, lateness counts from a job's end if it
///          ran from now on.
#pragma once

#include <cstddef>
#include <vector>

namespace almanac::timeshare {

/// A job that buys rounds.
struct Buyer {
  int gpus = 1;
  double done = 0;    ///< Fraction of its training that is done, 0 to 1.
  double left_s = 0;  ///< Remaining run time, above 0.
  double weight = 1;
  double least_s = 0;  ///< Run time that it must get in the window, as far as it can use it.

  friend bool operator==(const Buyer&, const Buyer&) = default;
};

struct Window {
  double gpus = 0;
  int rounds = 20;
  double round_s = 120;
  /// Worth of one second less of the longest remaining run time, relative to the mean over jobs and
  /// rounds of the logarithm of progress.
  double makespan_worth = 1e-3;
  /// If not all jobs can end in time, a job that would end at `ratio` times its fair time has
  /// weight ratio^power, or ratio^last_power with less than a round left.
  double power = 12;
  double last_power = 100;
};

/// Returns the rounds of each buyer, or nothing if there are too few GPUs for what they must have.
/// The answer is the best of those for all bounds on the remaining run time. For one-GPU buyers it
/// is optimal.
/// Cost     O(n r log(n r)) for n buyers and r rounds, and O(n) per bound that is tried. In 3,000
///          random cases of up to 100 buyers and 20 rounds, 3 bounds on average and 21 at most.
std::vector<int> buy_rounds(const Window& window, const std::vector<Buyer>& buyers);

/// Returns the buyers that run in each round, so that each gets its rounds as far as GPUs allow.
/// First come buyers that need every remaining round, then the others in order.
std::vector<std::vector<std::size_t>> deal_rounds(const Window& window,
                                                  const std::vector<Buyer>& buyers,
                                                  std::vector<int> rounds);

/// A job and its end on its own share of the cluster.
struct Claim {
  int gpus = 1;
  double age_s = 0;       ///< Time since submission.
  double done = 0;        ///< Fraction of its training that is done, 0 to 1.
  double left_s = 0;      ///< Remaining run time, above 0.
  double fair_jct_s = 0;  ///< Time from submission to the end on its own share, above 0.
};

/// Returns the positions in `claims` that run in each round of the window. The order keeps the sum
/// over jobs of weight x mean round small; among equals, the least remaining run time comes first.
/// If not all jobs can end in time, weights are those of the published program.
std::vector<std::vector<std::size_t>> plan_rounds(const Window& window,
                                                  const std::vector<Claim>& claims);

/// Returns the first of plan_rounds().
std::vector<std::size_t> plan_next_round(const Window& window, const std::vector<Claim>& claims);

/// The time at which a job would end on its own share of the cluster, which changes as other jobs
/// come and go: 90 % the mean of all estimates, each weighted by how long it was the latest, and 10
/// % the latest estimate.
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
