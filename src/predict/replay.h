// SPDX-License-Identifier: Apache-2.0

/// \file
/// Goes through a job log in order of time, so that nothing is known before it has happened.
///
/// A log's outcomes come with its submissions, and a predictor that reads them in that order
/// knows the future. Here a job's outcome becomes known only once it has ended *before* the
/// submission at hand: at its recorded end; else at its recorded start plus its run time; else,
/// where the log has neither, at its submission plus its run time, as if it had not waited. That
/// last reading is the earliest possible one: such a log does not tell more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predict/run_time.h"
#include "trace/job.h"

namespace almanac::predict {

/// When the outcome of `job` is known.
Time known_at(const trace::Job& job);

/// The GPU jobs of a log that have ended, in order of their ends. CPU jobs are not told of: a
/// scheduler of GPUs does not see them.
class Replay {
 public:
  /// O(n log n).
  explicit Replay(std::span<const trace::Job> jobs);

  /// Calls `on_end(JobId, const Request&, const Ended&)` for every job that ended before `now` and
  /// was not told of yet.
  template <typename OnEnd>
  void advance(Time now, OnEnd&& on_end) {
    for (; next_ < ends_.size() && ends_[next_].at < now; ++next_) {
      const End& end = ends_[next_];
      const trace::Job& job = jobs_[end.job];
      on_end(JobId{end.job}, job.request,
             Ended{.at = end.at, .ran = job.outcome.run, .state = job.outcome.state});
    }
  }

 private:
  struct End {
    Time at{};
    std::uint32_t job = 0;
  };

  std::span<const trace::Job> jobs_;
  std::vector<End> ends_;
  std::size_t next_ = 0;
};

}  // namespace almanac::predict
