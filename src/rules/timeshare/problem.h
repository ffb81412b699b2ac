// SPDX-License-Identifier: Apache-2.0

/// \file
/// The problem to solve, and the answer: the fraction of its time that each job runs on each GPU
/// type.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), section 3: effective throughput, proportional share.
#pragma once

#include <cstddef>
#include <vector>

namespace almanac::timeshare {

/// A job, or `count` equal jobs that get the same.
struct Job {
  std::vector<double> rates{};  ///< Steps per second on each type; 0 where it cannot run.
  int gpus = 1;                 ///< On every type.
  double weight = 1;            ///< Relative to other jobs; above 0.
  double steps_left = 0;
  double age_s = 0;  ///< Time since submission.
  /// Time that the steps so far would have taken on a cluster of its own of 1/n the size, with n
  /// jobs present (finish-time fairness only).
  double alone_s = 0;
  int count = 1;
};

struct Problem {
  std::vector<double> gpus{};  ///< By type.
  std::vector<Job> jobs{};

  std::size_t types() const { return gpus.size(); }
};

/// fractions[job][type] is a fraction of the job's time; a row sums to at most 1.
using Fractions = std::vector<std::vector<double>>;

/// Returns the steps per second of a job that gets `row`.
double effective_rate(const Job& job, const std::vector<double>& row);

/// Returns the steps per second if the job's time is spread over types like the GPUs; 0 if it runs
/// nowhere.
double proportional_rate(const Problem& problem, const Job& job);

/// Whether an answer is feasible, to 1e-6: no job has more than its whole time, no type gives more
/// than it has, and some job gets time if any can run.
bool can_be_carried_out(const Problem& problem, const Fractions& fractions);

/// Returns the number of jobs, counting equal jobs one by one.
double number_of_jobs(const Problem& problem);

/// Jobs with equal rates, GPUs and weight merged into one with a count. `of[job]` is its position.
/// Age, remaining steps and time alone are dropped.
struct Kinds {
  Problem problem;
  std::vector<std::size_t> of;
};
Kinds kinds_of(const Problem& problem);

/// Returns an answer for kinds as an answer for jobs.
Fractions of_jobs(const Kinds& kinds, const Fractions& fractions);

}  // namespace almanac::timeshare
