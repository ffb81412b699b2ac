// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which job runs where and after how many others, so that the sum of all times of waiting and
/// running is least.
///
/// Source   Le et al., EuroSys'20 (AlloX), section 4: a job that is the k-th from the end of its
///          GPU's line delays k jobs by its run time, itself included.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// column[row] of a perfect matching of least cost; costs are row by row, columns >= rows.
/// Shortest augmenting paths: O(rows^2 columns). Of equal ends of a path one that is free is taken.
std::vector<std::size_t> least_cost_matching(std::span<const double> costs, std::size_t rows,
                                             std::size_t columns);

struct Line {
  /// Of each job that asks one GPU, the type that it starts on now; nothing for one that waits.
  std::vector<std::optional<std::size_t>> starts;
  double sum_of_times_s = 0;
};

/// Lines jobs of one GPU up at `free` GPUs of each type.
Line least_sum_of_times(std::span<const Job> jobs, std::span<const int> free);

/// AlloX: jobs that have a whole type (1 in `before`) stay; of the others the oldest share
/// `considered` (at least as many as GPUs are free) are lined up, and those that start have it. It
/// knows jobs of one GPU only, and takes each for such a one.
Fractions allox(const Problem& problem, const Fractions& before, double considered);

}  // namespace almanac::timeshare
