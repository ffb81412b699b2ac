// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a waiting job may stop running jobs. GPUs become free every few minutes on a busy cluster,
/// so most stops for the sake of a job that has just arrived are not worth a restart.
///
/// Each user has a budget of stops, which grows with every job that the user submits. While it
/// lasts, a user's jobs stop others as soon as that pays. Without it, a job must have waited for
/// `patience` first.
///
/// Source   ours; docs/evidence/policy.md says what it saves.
#pragma once

#include <algorithm>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace almanac::policy {

class StopBudget {
 public:
  /// `per_job` is the part of a stop that each submitted job adds.
  StopBudget(Duration patience, double per_job) : patience_(patience), per_job_(per_job) {}

  /// Records a job that `user` has submitted.
  void submitted(NameId user) {
    double& left = left_of(user);
    left = std::min(left + per_job_, kMostSaved);
  }
  /// Records a job that was stopped for one of `user`.
  void stopped_for(NameId user) {
    double& left = left_of(user);
    left = std::max(left - 1, 0.0);
  }
  /// Returns from when on a job of `user` that waits since `since` may stop others; in the past if
  /// it may do so now.
  Time may_stop_from(NameId user, Time since) {
    return left_of(user) >= 1 ? since : since + patience_;
  }

 private:
  static constexpr double kAtFirst = 1;
  static constexpr double kMostSaved = 5;

  double& left_of(NameId user) {
    if (index(user) >= left_.size()) left_.resize(index(user) + 1, kAtFirst);
    return left_[index(user)];
  }

  Duration patience_;
  double per_job_;
  std::vector<double> left_;  // stops, by user; jobs without a user share one budget
};

}  // namespace almanac::policy
