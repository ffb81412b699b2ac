// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs of a managed cluster as one round knows them, by `JobId`: the running jobs first, then
/// those that the policy is shown, then newcomers.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "schedule/round.h"
#include "steer/experience.h"
#include "steer/roll.h"
#include "steer/world.h"

namespace almanac::steer {

/// Not thread-safe.
class RoundJobs {
 public:
  /// Both must outlive it. Empties `experience.log()`, which then has the jobs of this round.
  RoundJobs(Experience& experience, const World& world);

  JobId add(const manager::Job& job) {
    return add(job, experience_.request_of(job, world_), nullptr);
  }
  /// Adds a job with what the roll knows of it, which this completes. The roll must outlive it.
  JobId add(Roll::Member& member);
  /// What the policy sees of a job.
  trace::Request& request(JobId job) { return experience_.log().jobs[index(job)].request; }
  /// The past of a job that has waited, or run, since `since`.
  schedule::Past past_of(const manager::Job& job, Time since) const;

  const std::vector<manager::JobNumber>& numbers() const { return numbers_; }
  /// An estimator for these jobs, which must outlive it.
  std::unique_ptr<predict::Estimator> estimator() const {
    return experience_.estimator(numbers_, handles_);
  }
  manager::JobNumber number(JobId job) const { return numbers_[index(job)]; }

  /// From now on waiting jobs are added.
  void end_running() { num_running_ = numbers_.size(); }
  std::size_t num_running() const { return num_running_; }
  bool runs(JobId job) const { return index(job) < num_running_; }

  /// `first` is the first task of a waiting record that the policy is shown.
  void show(manager::JobNumber job, JobId first) { first_tasks_.emplace(job, first); }
  /// From now on only newcomers are added.
  void end_shown() { num_shown_ = numbers_.size(); }
  /// The waiting jobs that the policy is shown, in order of submission; an array appears once for
  /// each task.
  std::span<const manager::JobNumber> shown() const {
    return std::span(numbers_).subspan(num_running_, num_shown_ - num_running_);
  }
  const std::unordered_map<manager::JobNumber, JobId>& first_tasks() const { return first_tasks_; }
  std::optional<JobId> first_task(manager::JobNumber job) const;

 private:
  JobId add(const manager::Job& job, const trace::Request& request, Beliefs::Handle* belief);

  Experience& experience_;
  const World& world_;
  std::vector<manager::JobNumber> numbers_;
  std::vector<Beliefs::Handle*> handles_;  // in the roll; null for jobs that are not on it
  std::size_t num_running_ = 0;
  std::size_t num_shown_ = 0;  // these, and the running jobs
  std::unordered_map<manager::JobNumber, JobId> first_tasks_;
};

}  // namespace almanac::steer
