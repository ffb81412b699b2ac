// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides when the next job may start, while starts fail because something that every job needs is
/// missing.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "machine/start_trouble.h"
#include "store/job.h"

namespace almanac::machine {

/// Backs off after a failed start: each further failure doubles the pause, up to a minute, and only
/// one job is tried at a time until one succeeds. Not thread-safe.
class Starter {
 public:
  JobStarts jobs{};  ///< Failures of individual jobs.

  /// Whether starts fail. If so, one job is tried at a time.
  bool is_failing() const { return failures_ > 0; }
  /// Why starts fail; "" if they work.
  const std::string& trouble() const { return trouble_; }
  /// When the pause ends; kNever without a pause.
  Time again() const { return again_; }
  bool rests() const { return again_ != kNever; }
  /// Ends a pause that is over.
  void look(Time now) {
    if (again_ <= now) again_ = kNever;
  }

  /// Records that a job is about to start.
  void begins(store::JobNumber job, Time now);
  /// Records that the job has a process in an unknown state.
  void has_process(Time now);
  /// The job that is tried while starts fail.
  std::optional<store::JobNumber> tried() const { return tried_; }
  bool is_tried(store::JobNumber job) const { return is_failing() && tried_ == job; }
  /// Returns whether the tried job, which is alive, has started: its command runs, or it has been
  /// alive for 5 s. If not, postpones the next check.
  bool has_begun(bool command_runs, Time now);
  /// Records a failed start, and returns the pause. Returns nothing if a job that started together
  /// with it has failed before, which counts for both.
  std::optional<Duration> failed(store::JobNumber job, const std::string& why, Time now);
  /// Records that the tried job has started.
  void works();

 private:
  Time again_ = kNever;
  int failures_ = 0;  // in a row
  std::optional<store::JobNumber> tried_;
  Time tried_at_{};
  std::string trouble_;
};

}  // namespace almanac::machine
