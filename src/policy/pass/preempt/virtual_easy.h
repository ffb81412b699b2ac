// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays EASY backfill beside the real schedule, by counting GPUs, to say how long each job would
/// have waited under it.
///
/// A job that has ended in the real schedule runs here for as long as it did there. Any other job
/// is assumed to run up to its bound, so the waits are those of EASY or longer.
///
/// Source   Lifka, JSSPP'95 (EASY).
/// Differs  Counts GPUs: a job that would not fit on any node because free GPUs are scattered
///          starts here.
#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/desk/ranked_queue.h"

namespace almanac::policy {

/// Cost: O(log n) a job, and one step for each running job when the first in line is blocked.
class VirtualEasy {
 public:
  struct Start {
    JobId job{};
    Duration waited{};
  };

  /// GPUs in service from `now` on.
  void set_gpus(int gpus, Time now);
  /// The job has waited since `came`; `most` is the longest time that it may run.
  void arrive(JobId job, int gpus, Duration most, Time came, Time now);
  /// The job has run for `ran`, and runs for `most` at the longest from now on.
  void adopt(JobId job, int gpus, Duration ran, Duration most, Time now);
  /// The job has ended in the real schedule, where it ran for `ran` in all.
  void end(JobId job, Duration ran, Time now);
  /// The job is gone without having run.
  void withdraw(JobId job, Time now);
  /// Returns the jobs that have started here up to `now` since the last call.
  std::vector<Start> take_started(Time now);

 private:
  struct Job {
    int gpus = 0;
    Duration most{};
    Time came{};
    QueueKey key{};
    Time start = kNoTime;  ///< Missing = it waits.
    Time end = kNoTime;
  };
  /// Jobs that wait for the same number of GPUs.
  struct Line {
    int gpus = 0;
    RankedQueue jobs{};
  };

  Line& line(int gpus);
  void advance(Time now);
  void schedule(Time at);
  void backfill(Time at, int needed);
  /// The line of the first job; null = none waits.
  Line* first_line();
  void start(Line& from, JobId job, Time at);
  void finish(JobId job);

  int gpus_ = 0;
  int free_ = 0;  ///< Negative after GPUs went out of service.
  std::uint32_t sequence_ = 0;
  std::vector<Line> lines_;  ///< Fewest GPUs first.
  std::unordered_map<JobId, Job> jobs_;
  std::set<std::pair<Time, JobId>> ends_;
  std::vector<Start> started_;
};

}  // namespace almanac::policy
