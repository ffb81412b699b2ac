// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a waiting job may stop running jobs. GPUs become free every few minutes on a busy cluster,
/// so most stops for the sake of a job that has just arrived are not worth a restart. The longer a
/// job has waited, the longer it will wait still.
///
/// So the price of a stop is a wait. It is `patience` for each job to be stopped, and rises with
/// the run time of the waiting job: a job of a day gains little from a start half an hour sooner.
/// All jobs share a budget of stops, which grows with every submitted job. The price falls to 0
/// while the budget is full, and rises without bound as it runs out.
///
/// Source   ours; docs/evidence/policy.md says what it saves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/time.h"

namespace almanac::policy {

class StopBudget {
 public:
  /// `per_job` is the part of a stop that each submitted job adds; 0 = the number of stops has no
  /// limit, and the price is that of a budget that is half full.
  StopBudget(Duration patience, double per_job) : patience_(patience), per_job_(per_job) {}

  void add_job() { left_ = std::min(left_ + per_job_, kMostSaved); }
  void spend_stop() { left_ = std::max(left_ - 1, 0.0); }

  /// Returns how long a job that is expected to run for `run_s` seconds must have waited before it
  /// may stop `victims` jobs; kNoDuration if the budget does not have as many stops left.
  Duration price(double run_s, std::size_t victims) const {
    const auto stops = static_cast<double>(victims);
    if (per_job_ > 0 && left_ < stops) return kNoDuration;
    const double scarcity = per_job_ > 0 ? std::sqrt(kMostSaved / left_ - 1) : 1;
    const double each_s = seconds(patience_) * std::max(1.0, run_s / kRunOfOnePatience);
    constexpr double kMost = 1e9;
    return Duration{std::llround(1e3 * std::min(kMost, stops * scarcity * each_s))};
  }

 private:
  static constexpr double kMostSaved = 50;
  static constexpr double kRunOfOnePatience = 1'800;  // seconds; longer jobs pay in proportion

  Duration patience_;
  double per_job_;
  double left_ = kMostSaved;  // stops
};

}  // namespace almanac::policy
