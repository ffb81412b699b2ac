// SPDX-License-Identifier: Apache-2.0

/// \file
/// Assigns jobs to GPUs, and to places in line there, so that the sum of completion times is least.
///
/// Source   Le et al., EuroSys'20 (AlloX), section 4: the job that is k-th from the end of its
///          GPU's line delays k jobs, itself included, by its run time.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// Returns the column of each row in a perfect matching of least cost. Costs are row by row, and
/// there are at least as many columns as rows. Shortest augmenting paths; among equal ends of a
/// path, a free one comes first. O(rows^2 columns).
std::vector<std::size_t> least_cost_matching(std::span<const double> costs, std::size_t rows,
                                             std::size_t columns);

struct Line {
  /// For each job, the GPU type on which it starts now; nothing if it waits.
  std::vector<std::optional<std::size_t>> starts;
  double sum_of_times_s = 0;
};

/// Lines up one-GPU jobs at `free` GPUs of each type.
Line least_sum_of_times(std::span<const Job> jobs, std::span<const int> free);

/// Runs AlloX. Jobs that have a whole type (1 in `before`) keep it. Of the others, the oldest
/// fraction `considered`, but at least as many as GPUs are free, are lined up; those that start get
/// the type. Treats every job as a one-GPU job.
Fractions allox(const Problem& problem, const Fractions& before, double considered);

}  // namespace almanac::timeshare
