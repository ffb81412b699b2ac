// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a policy believes of how long jobs run: asked once as a job comes, learned from as it ends.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "policy/contract/contract.h"
#include "predict/estimator.h"

namespace almanac::policy {

class Beliefs {
 public:
  /// `estimator` may be null where nothing is ever asked.
  explicit Beliefs(std::unique_ptr<predict::Estimator> estimator)
      : estimator_(std::move(estimator)) {}

  bool can_be_asked() const { return estimator_ != nullptr; }
  /// From now on they are formed; where they were not asked for, all jobs are believed to take no
  /// time.
  void ask() { are_asked_ = true; }
  /// How likely each run time is too.
  void ask_distributions() { with_distributions_ = true; }

  void believe(JobId job, const View& view);
  void learn(JobId job, const View& view);
  /// It has ended.
  void forget(JobId job) {
    if (!likely_.empty()) likely_[index(job)].reset();
  }

  /// Of the whole run, without what restarts add.
  Duration run(JobId job) const { return are_asked_ ? runs_[index(job)] : Duration{0}; }
  /// How long a reservation lets the whole run take; run() where the estimator gives no bound.
  Duration bound(JobId job) const {
    const bool is_given = !bounds_.empty() && bounds_[index(job)] != kNoDuration;
    return is_given ? bounds_[index(job)] : run(job);
  }
  /// Null = one number is known only, or it was not asked.
  const predict::Distribution* likely(JobId job) const {
    return likely_.empty() ? nullptr : likely_[index(job)].get();
  }
  /// Believed work still to do, restart work included, as time at the speed at which the run time
  /// is known; never negative.
  Duration work_left(JobId job, const View& view) const { return left_of(run(job), job, view); }
  /// The same up to bound(): the work that a reservation lets the job do.
  Duration most_work_left(JobId job, const View& view) const {
    return left_of(bound(job), job, view);
  }

 private:
  static Duration left_of(Duration whole, JobId job, const View& view) {
    return std::max(Duration{0}, whole + view.progress(job).charged - view.worked(job));
  }

  std::unique_ptr<predict::Estimator> estimator_;
  bool are_asked_ = false;
  bool with_distributions_ = false;
  std::vector<Duration> runs_;    // by job
  std::vector<Duration> bounds_;  // by job; empty = none was given so far
  std::vector<std::unique_ptr<const predict::Distribution>> likely_;
};

}  // namespace almanac::policy
