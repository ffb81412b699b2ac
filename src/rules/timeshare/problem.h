// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is divided, and the answer: the part of its time that each job runs on each type of GPU.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), section 3: effective throughput, proportional share.
#pragma once

#include <cstddef>
#include <vector>

namespace almanac::timeshare {

/// A job, or `count` jobs that are alike and get the same.
struct Job {
  std::vector<double> rates{};  ///< Steps per second on each type; 0 where it cannot run.
  int gpus = 1;                 ///< That it takes wherever it runs.
  double weight = 1;            ///< Its part relative to others'; above 0.
  double steps_left = 0;
  double age_s = 0;  ///< Since it was submitted.
  /// Time that the steps done so far would have taken in a cluster of its own 1/n of the size, n
  /// jobs being there (finish-time fairness only).
  double alone_s = 0;
  int count = 1;
};

struct Problem {
  std::vector<double> gpus{};  ///< Of each type.
  std::vector<Job> jobs{};

  std::size_t types() const { return gpus.size(); }
};

/// fractions[job][type]: the part of the time; a row sums to 1 at most.
using Fractions = std::vector<std::vector<double>>;

/// Steps per second of a job that is given `row`.
double effective_rate(const Job& job, const std::vector<double>& row);

/// Steps per second, were the job's time spread over types as their GPUs are. 0 if it runs nowhere.
double proportional_rate(const Problem& problem, const Job& job);

/// Whether an answer can be carried out: no job has more than its whole time and no type gives more
/// than it has, to 1e-6, and some job has some, if any runs anywhere.
bool can_be_carried_out(const Problem& problem, const Fractions& fractions);

/// Number of jobs, those that are alike counted one by one.
double number_of_jobs(const Problem& problem);

/// Jobs that are alike in all but age as one job with a count; `of[job]` is its place there. Age,
/// steps left and time alone are dropped.
struct Kinds {
  Problem problem;
  std::vector<std::size_t> of;
};
Kinds kinds_of(const Problem& problem);

/// An answer for kinds as one for jobs.
Fractions of_jobs(const Kinds& kinds, const Fractions& fractions);

}  // namespace almanac::timeshare
