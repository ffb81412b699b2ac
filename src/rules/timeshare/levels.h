// SPDX-License-Identifier: Apache-2.0

/// \file
/// The program that most others build on: raises the level of all jobs together. A job's level is
/// its effective rate divided by its need.
///
///   maximize rise, so that
///     sum over ways of rate_j X >= need_j (level_j + pace_j rise)    for each job j
///     sum over ways of X <= 1                                        for each job
///     sum over ways of gpus X <= GPUs                                for each type
///
/// A way is a job on a type, or two jobs that share GPUs of a type.
///
/// Ties are broken the same way in the whole folder. All levels rise together; those that can still
/// rise continue until none can (lexicographic max-min from where they began). Then the least GPU
/// time counts.
///
/// Source   Gavel, sections 4.1 and 4.3 (water filling).
/// Differs  The price of its row shows that a job can rise no further, so no integer program is
///          needed: a row with a price is tight in every best answer, and each stage has one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "rules/solver/linear_program.h"
#include "rules/timeshare/problem.h"

namespace almanac::timeshare {

/// A way to use a type: one job, or two jobs together.
struct Way {
  std::size_t type = 0;
  double gpus = 1;
  std::size_t job = 0;
  double rate = 0;                      ///< Rate of `job` in steps per second, above 0.
  std::optional<std::size_t> beside{};  ///< The second job; may equal `job` if that stands for
                                        ///< several equal jobs.
  double rate_beside = 0;
};

/// Returns a way for each job alone on each type where it runs.
std::vector<Way> ways_alone(const Problem& problem);

/// Returns what max-min fairness divides rates by: proportional rate x weight / GPUs.
std::vector<double> fair_needs(const Problem& problem);

class Levels {
 public:
  /// Jobs without a way, and jobs that need nothing, stay out; their level is 0.
  Levels(const Problem& problem, std::vector<Way> ways, std::span<const double> needs);
  Levels(const Problem& problem, std::span<const double> needs)
      : Levels(problem, ways_alone(problem), needs) {}

  /// Changes the need, above 0, of a job that does not stay out.
  void set_need(std::size_t job, double need);

  /// Returns the largest level that all jobs reach together, or 0 if there is none.
  double raise_all();

  /// Returns the derivative of 1 / level by the need of the job. Call after raise_all().
  double price(std::size_t job) const;

  /// Returns how fast jobs rise relative to each other. The pace of a `fixed` job, which can rise
  /// no further, does not count.
  using Paces = std::function<std::vector<double>(const std::vector<bool>& fixed)>;

  /// Raises all jobs from `levels` (empty means 0), which must be feasible, as far as possible,
  /// fixes those that can rise no further, and repeats. Then minimizes GPU time. Returns the
  /// levels.
  /// Cost     one program per stage, at most as many stages as jobs
  std::vector<double> fill(const Paces& paces, std::vector<double> levels = {});
  std::vector<double> fill(std::vector<double> levels = {});  ///< All at the same pace.

  /// Returns the time of each way, summed over all equal jobs.
  std::vector<double> times() const;
  /// Returns the fractions of each of the equal jobs. Requires ways_alone().
  Fractions fractions() const;

 private:
  bool stays_out(std::size_t job) const { return rows_[job] < 0; }
  /// Requires level + pace * rise of the job.
  void ask(std::size_t job, double level, double pace);
  void take_least();

  const Problem& problem_;
  std::vector<Way> ways_;
  std::vector<double> fastest_;  ///< Fastest rate of each job over its ways, times its count.
  std::vector<double> needs_;    ///< Time at that rate, relative to `unit_`.
  double unit_ = 0;
  solver::LinearProgram program_;
  int rise_ = 0;
  std::vector<int> rows_;
};

/// Gives each job the rate in `rates`, then raises all of them as max-min fairness does.
Fractions raise_from(const Problem& problem, std::span<const double> rates);

}  // namespace almanac::timeshare
