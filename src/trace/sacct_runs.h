// SPDX-License-Identifier: Apache-2.0

/// \file
/// Combines the rows of Slurm's accounting into jobs. One id may have several rows: one per run of
/// a requeued job (`sacct --duplicates`), one per size of a resized job, duplicates from
/// overlapping logs, and rows of other jobs once ids are reused.
#pragma once

#include <set>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "trace/intake.h"

namespace almanac::trace {

/// What decides whether two rows with one id are of one job.
struct SacctRun {
  std::string_view user{};
  std::string_view name{};
  Time submit = kNoTime;
  Time start = kNoTime;
  Time end = kNoTime;
  JobState state = JobState::unknown;
};

/// Whether `later` is the next row of the job of `run`, rather than a row of another job with the
/// same id. Rows of an id come in order of submission and start. Slurm resubmits a job when it
/// requeues it.
bool is_same_job(const SacctRun& run, const SacctRun& later);

class SacctRuns {
 public:
  /// The row of `job` is what it was before it was resized.
  void resized(const Job& job) { resized_.emplace(job.id, job.outcome.run); }

  /// Merges the rows of each job into one: submitted with the first, started with the first that
  /// ran, ended with the last. It has the GPUs of the first row that ran, and a run time that keeps
  /// the total GPU time. A job that reuses the id of another is called "ID#2".
  void conclude(Intake& intake) const;

 private:
  bool is_resized(const Job& job) const {
    return job.outcome.state == JobState::unknown && resized_.contains({job.id, job.outcome.run});
  }
  bool is_told_again(const Job& row, const Job& again) const;

  std::set<std::pair<JobKey, Duration>> resized_;
};

}  // namespace almanac::trace
