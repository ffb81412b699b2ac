// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes jobs of the rows of Slurm's accounting. One id may have several: a job that was requeued
/// has a row for each run (`sacct --duplicates`), one that was resized a row for each size, logs
/// that overlap tell a run twice, and an id is given again once numbers run out.
#pragma once

#include <set>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "trace/intake.h"

namespace almanac::trace {

/// What tells whether two rows of one id are of one job.
struct SacctRun {
  std::string_view user{};
  std::string_view name{};
  Time submit = kNoTime;
  Time start = kNoTime;
  Time end = kNoTime;
  JobState state = JobState::unknown;
};

/// Whether `later` is the next row of the job of `run`, rather than that of another job that got
/// the same id. Both are rows of one id, in order of submission and start. Slurm submits a job anew
/// when it requeues it.
bool is_same_job(const SacctRun& run, const SacctRun& later);

class SacctRuns {
 public:
  /// The row of `job` is what it was before it was resized.
  void resized(const Job& job) { resized_.emplace(job.id, job.outcome.run); }

  /// Merges the rows of each job into one: submitted with the first, started with the first that
  /// ran, ended as the last. It has the GPUs of the first that ran and a run time that keeps the
  /// GPU time of all. A job that got the id of another is called "ID#2".
  void conclude(Intake& intake) const;

 private:
  bool is_resized(const Job& job) const {
    return job.outcome.state == JobState::unknown && resized_.contains({job.id, job.outcome.run});
  }
  bool is_told_again(const Job& row, const Job& again) const;

  std::set<std::pair<JobKey, Duration>> resized_;
};

}  // namespace almanac::trace
