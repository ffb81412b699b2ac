// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes the jobs that a format reader finds and makes a Trace of them: judges each job, counts
/// what is dropped and remarked, and in the end checks ids and puts the jobs in order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace almanac::trace {

class Intake {
 public:
  /// Fills `trace`, whose path is set.
  Intake(Trace& trace, bool lenient) : trace_(&trace), lenient_(lenient) {}

  Trace& trace() { return *trace_; }
  Where where(std::int64_t line) const { return {trace_->path, line}; }

  /// Takes the job of the record in `line`; its attempts, if any, were added with the position
  /// trace().jobs.size(). Refuses a job with submit < 0 or run < 0, an end before its start, or a
  /// request that contradicts itself: value that ends before the deadline, fewer GPUs at most than
  /// asked.
  Result<void> add(const Job& job, std::int64_t line);
  /// Drops a record for `error` when lenient, else gives the error. Only what is invalid can be
  /// dropped: damage is always an error.
  Result<void> refuse(Error error);
  /// Counts a job for the note "`text`: N jobs". `text` must outlive this.
  void remark(const char* text) { ++remarks_[text]; }
  /// Counts a record that is no job of its own (a job step) and leaves it out.
  void skip(const char* text) {
    ++trace_->rows;
    remark(text);
  }

  /// Refuses ids that come twice, sorts by submission, writes the notes. Fails with invalid when
  /// no job is left.
  Result<void> finish();

 private:
  Result<void> check_ids();
  void reorder();
  void write_notes();

  Trace* trace_;
  bool lenient_;
  bool ids_rise_ = true;
  std::int64_t moved_ = 0;           // jobs submitted earlier than the one before them
  bool in_order_ = true;             // of Request::submit
  std::vector<std::int64_t> lines_;  // of each job
  std::vector<bool> doubled_;        // jobs to drop for their id; empty = none
  std::map<std::string_view, std::int64_t> remarks_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> dropped_;  // why -> count, line
};

}  // namespace almanac::trace
