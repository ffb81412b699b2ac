// SPDX-License-Identifier: Apache-2.0

/// \file
/// The program under most of the others: raise the level of all jobs together, where a job's level
/// is its effective rate / its need.
///
///   maximise  rise    sum over ways of rate_j X >= need_j (level_j + pace_j rise)    for each job
///   j
///                     sum over ways of X <= 1       for each job
///                     sum over ways of gpus X <= GPUs       for each type
///
/// where a way is a job on a type, or two jobs that share GPUs of a type.
///
/// Rule for answers that are not unique, everywhere in this room: all levels are raised together,
/// and those that still can be go on, until none can (lexicographic max-min from where they began);
/// then the least GPU time. Source   Gavel, sections 4.1 and 4.3 (water filling). Differs  a job
/// that can rise no further is found by the price of its row, so no integer program
///          is needed: a row with a price is tight in every best answer, and a stage has one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "rules/solver/linear_program.h"
#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// A way to spend time on a type: of one job, or of two together.
struct Way {
  std::size_t type = 0;
  double gpus = 1;
  std::size_t job = 0;
  double rate = 0;                      ///< Of `job`, in steps per second; above 0.
  std::optional<std::size_t> beside{};  ///< May be `job` itself, where that stands for several
                                        ///< alike.
  double rate_beside = 0;
};

/// Each job alone on each type where it runs.
std::vector<Way> ways_alone(const Problem& problem);

/// What max-min fairness evens out: proportional rate x weight / GPUs.
std::vector<double> fair_needs(const Problem& problem);

class Levels {
 public:
  /// Jobs without a way, or that need nothing, stay out: their level is 0.
  Levels(const Problem& problem, std::vector<Way> ways, std::span<const double> needs);
  Levels(const Problem& problem, std::span<const double> needs)
      : Levels(problem, ways_alone(problem), needs) {}

  /// Of a job that does not stay out; above 0.
  void set_need(std::size_t job, double need);

  /// The largest level that all jobs reach together, 0 where there is none.
  double raise_all();

  /// After raise_all(): the derivative of 1 / level by the need of the job.
  double price(std::size_t job) const;

  /// How fast jobs rise relative to each other. `fixed` says which can rise no further: their pace
  /// does not count.
  using Paces = std::function<std::vector<double>(const std::vector<bool>& fixed)>;

  /// Raises all from `levels` (none: 0), which must be possible, as far as that goes, fixes those
  /// that can rise no further, and so on; then takes the least GPU time. Returns the levels. A
  /// program a stage, at most as many stages as jobs.
  std::vector<double> fill(const Paces& paces, std::vector<double> levels = {});
  std::vector<double> fill(std::vector<double> levels = {});  ///< All at the same pace.

  /// Of the ways, over all jobs that are alike together.
  std::vector<double> times() const;
  /// Of ways_alone(), each of the jobs that are alike.
  Fractions fractions() const;

 private:
  bool stays_out(std::size_t job) const { return rows_[job] < 0; }
  /// Asks the job for level + pace * rise.
  void ask(std::size_t job, double level, double pace);
  void take_least();

  const Problem& problem_;
  std::vector<Way> ways_;
  std::vector<double> fastest_;  ///< Of each job, over its ways; times its count.
  std::vector<double> needs_;    ///< Time at that rate, relative to `unit_`.
  double unit_ = 0;
  solver::LinearProgram program_;
  int rise_ = 0;
  std::vector<int> rows_;
};

/// Gives each job the rate that it must have, then raises all from there as max-min fairness does.
Fractions raise_from(const Problem& problem, std::span<const double> rates);

}  // namespace almanac::timeshare
