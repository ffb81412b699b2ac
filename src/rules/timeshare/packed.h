// SPDX-License-Identifier: Apache-2.0

/// \file
/// Max-min fairness where two jobs may run on the same GPUs.
///
/// Source   Gavel, section 4.2 (space sharing): a pair is one more way to spend time, of both jobs,
///          and takes the GPUs once. Jobs of a pair ask the same number of GPUs.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// Steps per second of jobs `one` and `other` while they share GPUs of a type. Zeros: they cannot.
using PairRates =
    std::function<std::array<double, 2>(std::size_t type, std::size_t one, std::size_t other)>;

struct Packing {
  /// Time of each kind on each type alone, summed over its jobs.
  Fractions alone{};
  struct Pair {
    std::size_t one = 0;
    std::size_t other = 0;
    std::vector<double> times{};  ///< On each type, summed over all pairs of jobs of the two.
  };
  std::vector<Pair> pairs{};  ///< Those that spend any time together.
};

/// Raises the least of gpus x rate / (proportional rate alone x weight). A job with a count may be
/// paired with those that are like it; 26 kinds of jobs are a program of 1,000 columns however many
/// jobs there are.
Packing packed_max_min_fairness(const Problem& kinds, const PairRates& pair_rates);

/// The effective rate of each job of a kind.
std::vector<double> effective_rates(const Problem& kinds, const Packing& packing,
                                    const PairRates& pair_rates);

}  // namespace almanac::timeshare
