// SPDX-License-Identifier: Apache-2.0

/// \file
/// Max-min fairness if two jobs may run on the same GPUs.
///
/// Source   Gavel, section 4.2 (space sharing): a pair is one more way to use GPUs. It counts for
///          both jobs and takes the GPUs once. Jobs of a pair request the same number of GPUs.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// Returns the steps per second of jobs `one` and `other` if they share GPUs of a type; zeros if
/// they cannot.
using PairRates =
    std::function<std::array<double, 2>(std::size_t type, std::size_t one, std::size_t other)>;

struct Packing {
  /// Time of each kind alone on each type, summed over its jobs.
  Fractions alone{};
  struct Pair {
    std::size_t one = 0;
    std::size_t other = 0;
    std::vector<double> times{};  ///< On each type, summed over all pairs of the two kinds.
  };
  std::vector<Pair> pairs{};  ///< Pairs with any time together.
};

/// Maximizes the smallest gpus x rate / (proportional rate alone x weight). Jobs of one kind may be
/// paired with each other. The size depends on kinds, not on jobs: 26 kinds make a program of about
/// 1,000 columns.
Packing packed_max_min_fairness(const Problem& kinds, const PairRates& pair_rates);

/// Solves programs as packed_max_min_fairness() does, and remembers the answers: one that was
/// solved before is not solved again.
class PackedPrograms {
 public:
  const Packing& solve(const Problem& kinds, const PairRates& pair_rates);

 private:
  std::map<std::vector<double>, Packing> solved_;  // by the numbers of a program
};

/// Returns the effective rate of each job of a kind.
std::vector<double> effective_rates(const Problem& kinds, const Packing& packing,
                                    const PairRates& pair_rates);

}  // namespace almanac::timeshare
