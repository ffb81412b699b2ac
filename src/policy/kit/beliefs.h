// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy's estimates of run times: requested once when a job arrives, and updated when it ends.
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
  /// `estimator` may be null if no estimate is ever requested.
  explicit Beliefs(std::unique_ptr<predict::Estimator> estimator)
      : estimator_(std::move(estimator)) {}

  bool can_be_asked() const { return estimator_ != nullptr; }
  /// Requests estimates from now on. Without them, all jobs are assumed to take no time.
  void ask() { are_asked_ = true; }
  /// Requests distributions as well.
  void ask_distributions() { with_distributions_ = true; }

  void believe(JobId job, const View& view);
  void learn(JobId job, const View& view);
  /// Frees what is stored about a job that has ended.
  void forget(JobId job) {
    if (!likely_.empty()) likely_[index(job)].reset();
  }

  /// Returns the estimated whole run time, without restarts.
  Duration run(JobId job) const { return are_asked_ ? runs_[index(job)] : Duration{0}; }
  /// Returns the run time that a reservation allows; run() if the estimator gives no bound.
  Duration bound(JobId job) const {
    const bool is_given = !bounds_.empty() && bounds_[index(job)] != kNoDuration;
    return is_given ? bounds_[index(job)] : run(job);
  }
  /// Returns null if only one number is known or distributions were not requested.
  const predict::Distribution* likely(JobId job) const {
    return likely_.empty() ? nullptr : likely_[index(job)].get();
  }
  /// Returns the estimated remaining work, restart work included, as time at the speed of the known
  /// run time; never negative.
  Duration work_left(JobId job, const View& view) const { return left_of(run(job), job, view); }
  /// Returns the same up to bound(): the work that a reservation allows.
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
  std::vector<Duration> bounds_;  // by job; empty while none was given
  std::vector<std::shared_ptr<const predict::Distribution>> likely_;
};

}  // namespace almanac::policy
