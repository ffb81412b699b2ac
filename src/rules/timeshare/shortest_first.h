// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shortest first for different GPU types: chooses the job that runs next on each type, so that
/// weight completes as fast as possible.
///
/// On one type this is the order of weight / (remaining time x GPUs). On several types, a job that
/// is nearly as fast on a slow type leaves the fast type to a job that is not.
///
/// Source   The c-mu rule (Cox and Smith, Queues, 1961), which minimizes the weighted sum of waits
///          in a queue; for different servers, Mandelbaum and Stolyar, Operations Research 52
///          (2004). Finish-time ratios as weights and jobs of many GPUs are our own.
#pragma once

#include <cstddef>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// A job in line for GPUs of a type.
struct Turn {
  std::size_t job = 0;
  std::size_t type = 0;

  friend bool operator==(const Turn&, const Turn&) = default;
};

/// Returns all jobs in line order. Maximizes the sum over jobs of weight x rate / remaining steps.
/// First come jobs that the optimum gives a whole type, then those with a part of one, then those
/// with none, on the type where they are fastest. Within each class, the largest value per GPU
/// comes first. Ignores age, time alone and count.
/// Cost     a sort; with several types, a linear program of jobs x types columns
std::vector<Turn> shortest_first(const Problem& problem);

}  // namespace almanac::timeshare
