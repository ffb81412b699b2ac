// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes the jobs that a format reader finds and makes a Trace of them: judges each job, counts
/// what is dropped and remarked, and in the end checks ids and puts the jobs in order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/time_zone.h"
#include "trace/trace.h"

namespace almanac::trace {

class Intake {
 public:
  /// Fills `trace`, whose path is set. `zone` is that of times without one, if it is known.
  Intake(Trace& trace, bool lenient, std::optional<text::TimeZone> zone = {})
      : trace_(&trace), zone_(std::move(zone)), lenient_(lenient) {}

  Trace& trace() { return *trace_; }
  const std::optional<text::TimeZone>& zone() const { return zone_; }
  /// Ends up to two hours before their starts are taken from now on, if the run time is known: a
  /// clock was changed, and the reader puts them right.
  void expect_clock_changes() { expects_clock_changes_ = true; }
  Where where(std::int64_t line) const { return {trace_->path, line}; }

  /// Adds the job of the record in `line`; its attempts, if any, must already be added with
  /// position trace().jobs.size(). Refuses a job with submit < 0 or run < 0, with an end before its
  /// start, or with a contradictory request: its value ends before the deadline, or its largest
  /// number of GPUs is below the requested one.
  Result<void> add(const Job& job, std::int64_t line);
  /// Drops a record for `error` when lenient, else gives the error. Only what is invalid can be
  /// dropped: damage is always an error.
  Result<void> refuse(Error error);
  /// Counts a job for the note "`text`: N jobs". `text` must outlive this.
  void remark(const char* text) { ++remarks_[text]; }
  /// Counts a record that is not a job of its own (a job step) and leaves it out.
  void skip(const char* text) {
    ++trace_->rows;
    remark(text);
  }

  /// Leaves out the jobs at the positions that are true.
  void leave_out(const std::vector<bool>& gone);

  /// Refuses ids that come twice, sorts by submission, writes the notes. Fails with invalid when
  /// no job is left.
  Result<void> finish();

 private:
  Result<void> check_ids();
  void reorder();
  void write_notes();

  Trace* trace_;
  std::optional<text::TimeZone> zone_;
  bool lenient_;
  bool expects_clock_changes_ = false;
  std::int64_t moved_ = 0;           // jobs submitted earlier than the one before them
  std::vector<std::int64_t> lines_;  // of each job
  std::vector<bool> doubled_;        // jobs to drop for a duplicate id; empty for none
  std::map<std::string_view, std::int64_t> remarks_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> dropped_;  // why -> count, line
};

}  // namespace almanac::trace
