// SPDX-License-Identifier: Apache-2.0

/// \file
/// What to optimize if GPU types differ. Each program has its own file and turns a problem into
/// fractions. Ties are broken as in levels.h unless stated otherwise.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 4 and 5, and its published program.
/// Cost     programs with jobs x types columns; equal jobs count once in max_min_fairness,
///          water_filling and max_sum_throughput
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// Gives each job 1 / n of each type, with n jobs present, scaled down to at most its whole time.
Fractions isolated(const Problem& problem);

/// Maximizes the smallest gpus x rate / (proportional rate x weight). With all rates 1 it ignores
/// types.
Fractions max_min_fairness(const Problem& problem);

/// Minimizes the largest (age + remaining time) / (time alone on 1 / n of the cluster).
Fractions finish_time_fairness(const Problem& problem);

/// Minimizes the end of the last job.
Fractions min_total_duration(const Problem& problem);

/// Maximizes the sum of rates, or of rates per price if there is a price for a GPU of each type.
/// With times to deadlines in seconds (infinite for none), it meets all deadlines; if that is
/// impossible, it ignores them. The answer is a vertex of the optimal set.
Fractions max_sum_throughput(const Problem& problem, std::span<const double> prices = {},
                             std::span<const double> to_deadline_s = {});

/// How the jobs of an entity share what it gets.
enum class Within { fairness, fifo };

/// Jobs of an entity share its weight. A job that can rise no further leaves its part to the
/// others.
struct Entity {
  double weight = 1;
  Within within = Within::fairness;
  /// In order; each job of the problem is in one entity. A job with a count stands for that many,
  /// each with its own weight (fairness only).
  std::vector<std::size_t> jobs{};
};
Fractions water_filling(const Problem& problem, std::span<const Entity> entities);

/// Return what the programs optimize, for given fractions. Jobs that run nowhere do not count.
double least_normalised_rate(const Problem& problem, const Fractions& fractions);
double worst_finish_time_ratio(const Problem& problem, const Fractions& fractions);
double total_duration_s(const Problem& problem, const Fractions& fractions);
double sum_of_rates(const Problem& problem, const Fractions& fractions);

}  // namespace almanac::timeshare
