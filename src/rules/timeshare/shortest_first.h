// SPDX-License-Identifier: Apache-2.0

/// \file
/// The shortest first, where GPU types differ: which jobs run next on which type, so that weight
/// ends as fast as it can.
///
/// On one type that is the order of weight / (time left x GPUs). On several a job that is nearly as
/// fast on a slow type leaves the fast one to a job that is not.
///
/// Source   The c-mu rule (Cox and Smith, Queues, 1961), which minimises the weighted sum of waits
///          of a queue; for servers that differ Mandelbaum and Stolyar, Operations Research 52
///          (2004). With finish-time ratios as weights, for jobs of many GPUs: ours.
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

/// Raises the sum over jobs of weight x rate / steps left. Every job is in the line: those that the
/// best answer gives a type, those that it gives a part of the time on one, those that it gives
/// none, on the type where they are fastest; of each kind those first that are worth most for a
/// GPU. Age, time alone and count of a job are not looked at.
/// Cost: a sort; with several types a linear program of jobs x types columns.
std::vector<Turn> shortest_first(const Problem& problem);

}  // namespace almanac::timeshare
