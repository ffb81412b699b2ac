// SPDX-License-Identifier: Apache-2.0

/// \file
/// When the next job may start, while starts fail for want of what all jobs need.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "machine/start_trouble.h"
#include "store/job.h"

namespace almanac::machine {

/// Backs off after a failed start: each further failure doubles the pause, up to a minute, and one
/// job at a time is tried until one works. Not thread-safe.
class Starter {
 public:
  JobStarts jobs{};  ///< Each job's own failures.

  /// Whether starts fail. If so, one job is tried at a time.
  bool is_failing() const { return failures_ > 0; }
  /// Why starts fail; "" = they work.
  const std::string& trouble() const { return trouble_; }
  /// When the pause ends; kNever = there is none.
  Time again() const { return again_; }
  bool rests() const { return again_ != kNever; }
  /// Ends a pause that is over.
  void look(Time now) {
    if (again_ <= now) again_ = kNever;
  }

  /// Notes that a job is about to start.
  void begins(store::JobNumber job, Time now);
  /// Notes that the job has a process, of which nothing is known yet.
  void has_process(Time now);
  /// The job that is tried while starts fail.
  std::optional<store::JobNumber> tried() const { return tried_; }
  bool is_tried(store::JobNumber job) const { return is_failing() && tried_ == job; }
  /// Returns whether the tried job, which lives, has begun: its command runs, or it has lived for
  /// 5 s. If not, puts off the next look.
  bool has_begun(bool command_runs, Time now);
  /// Notes that a start failed, and returns the pause; nothing = a job that started together with
  /// it has failed before, and counts for both.
  std::optional<Duration> failed(store::JobNumber job, const std::string& why, Time now);
  /// Notes that the tried job has begun.
  void works();

 private:
  Time again_ = kNever;
  int failures_ = 0;  // in a row
  std::optional<store::JobNumber> tried_;
  Time tried_at_{};
  std::string trouble_;
};

}  // namespace almanac::machine
