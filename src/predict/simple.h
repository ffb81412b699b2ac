// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simple estimates that the learned one must beat.
#pragma once

#include <array>
#include <queue>
#include <vector>

#include "predict/mean_table.h"
#include "predict/memory.h"

namespace almanac::predict {

struct SimpleName {
  const char* name;
  const char* words;
};
/// In the order of SimpleEstimates::logs().
inline constexpr std::array<SimpleName, 6> kSimple = {{
    {"global_median", "the median of all jobs that ended"},
    {"user_mean", "the mean of the user's jobs"},
    {"user_name_median", "the median of the user's last ten jobs with this name"},
    {"user_size_median", "the median of the user's last ten jobs with as many GPUs"},
    {"last_run", "the user's last job"},
    {"requested_time", "the time limit"},
}};

/// The median of numbers added one by one. O(log n) each.
class RunningMedian {
 public:
  void add(double value);
  bool empty() const { return low_.empty(); }
  double value() const;

 private:
  std::priority_queue<double> low_;
  std::priority_queue<double, std::vector<double>, std::greater<>> high_;
};

/// All simple estimates together, because they use the same past. What a user does not have yet
/// comes from all jobs: the last ten with the same number of GPUs, else the median of all, else one
/// hour.
class SimpleEstimates {
 public:
  explicit SimpleEstimates(const Names& names) : memory_(names) {}
  /// Returns the log10 seconds of each estimate, in the order of kSimple.
  std::array<double, kSimple.size()> logs(const trace::Request& request);
  void learn(JobId job, const trace::Request& request, const Ended& ended);
  /// Returns the ended jobs of this user; null without any.
  const Recent* history(const trace::Request& request);

 private:
  Memory memory_;
  MeanTable user_means_;
  RunningMedian all_;
};

}  // namespace almanac::predict
