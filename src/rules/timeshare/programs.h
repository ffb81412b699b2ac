// SPDX-License-Identifier: Apache-2.0

/// \file
/// What to optimise when GPU types differ: one program a file, all of them from a problem to
/// fractions. Answers that are not unique follow the rule of levels.h unless said otherwise.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 4 and 5 and its published program.
/// Cost     programs over jobs x types columns, where jobs that are alike count once in
///          max_min_fairness, water_filling and max_sum_throughput.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// Each job at 1 / n of each type, n jobs being there, cut to its whole time.
Fractions isolated(const Problem& problem);

/// Raises the least of gpus x rate / (proportional rate x weight). Rates all 1: blind to types.
Fractions max_min_fairness(const Problem& problem);

/// Lowers the largest of (age + time left) / (time that it would have taken alone in 1 / n of the
/// cluster).
Fractions finish_time_fairness(const Problem& problem);

/// Lets the last of the jobs end as early as it can.
Fractions min_total_duration(const Problem& problem);

/// Raises the sum of rates. With a price for a GPU of each type: of rates per price. With times to
/// deadlines in s (infinite = none): so that all are kept, or, where they cannot all be, none is
/// minded. The answer is a corner of those that are best.
Fractions max_sum_throughput(const Problem& problem, std::span<const double> prices = {},
                             std::span<const double> to_deadline_s = {});

/// How entities share what they have among their jobs.
enum class Within { fairness, fifo };

/// Jobs of an entity share its weight, and those that can rise no further leave it to the others.
struct Entity {
  double weight = 1;
  Within within = Within::fairness;
  /// In order; each job of the problem is in one entity. With a count: so many, of which each has
  /// its own weight (fairness only).
  std::vector<std::size_t> jobs{};
};
Fractions water_filling(const Problem& problem, std::span<const Entity> entities);

/// What the programs optimise, of given fractions. Jobs that run nowhere do not count.
double least_normalised_rate(const Problem& problem, const Fractions& fractions);
double worst_finish_time_ratio(const Problem& problem, const Fractions& fractions);
double total_duration_s(const Problem& problem, const Fractions& fractions);
double sum_of_rates(const Problem& problem, const Fractions& fractions);

}  // namespace almanac::timeshare
