// SPDX-License-Identifier: Apache-2.0

/// \file
/// A whole job log in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/result.h"
#include "trace/job.h"

namespace almanac::trace {

/// One attempt to run a job, if the log separates them (Philly).
struct Attempt {
  std::uint32_t job = 0;  ///< Position in Trace::jobs.
  Time start = kNoTime;
  Time end = kNoTime;
  std::uint32_t first_piece = 0;  ///< Its pieces are Trace::pieces[first_piece ..+ num_pieces).
  std::uint32_t num_pieces = 0;
};

/// GPUs that an attempt held on one machine.
struct Piece {
  NameId machine = kNoName;
  std::int32_t gpus = 0;
  std::uint64_t gpu_mask = 0;  ///< Bit i stands for GPU i of the machine; 0 for unknown.
};

/// The machine of a log, as its header describes it; 0 for unknown.
struct Machine {
  std::int32_t nodes = 0;
  std::int32_t gpus = 0;  ///< On all nodes.
};

/// Jobs in the order in which they joined the queue (Request::submit); ties keep the order of the
/// file.
///
/// Cost: 256 bytes a job plus its distinct strings.
struct Trace {
  std::vector<Job> jobs;
  std::vector<Attempt> attempts;  ///< Grouped by job; empty if the log has none.
  std::vector<Piece> pieces;
  Names names;  ///< Every NameId of the trace, job ids that are not numbers too.

  Machine machine;

  std::string path;          ///< Source file; "" if generated.
  std::string format;        ///< "helios", "philly", "sacct", ...
  bool local_times = false;  ///< Its times were written without a zone,
  std::string time_zone;     ///< Zone used to read times without one; "" for UTC.
  std::string sha256;        ///< Of the file on disk; "" if generated.
  std::int64_t rows = 0;     ///< Rows (or records) read, dropped ones included.
  std::int64_t dropped = 0;  ///< Rows left out by --lenient.
  /// Jobs read as FAILED because the log only says that they did not complete; some were cancelled.
  std::int64_t unsuccessful = 0;
  /// Whether the log says when jobs became eligible. If not, waits may include dependencies, begin
  /// times and holds.
  bool knows_eligible = false;
  /// What the user should know (sorted, dropped, assumed), one line each.
  std::vector<std::string> notes;

  /// The key of an id as its source spells it. Digits without a leading zero become a number.
  JobKey key(std::string_view id);
  /// The id as its source spelled it.
  std::string id(JobKey key) const;
};

}  // namespace almanac::trace
