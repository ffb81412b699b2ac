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

/// One try at running a job, where the log tells them apart (Philly).
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
  std::uint64_t gpu_mask = 0;  ///< Bit i = the machine's GPU i; 0 = not known which.
};

/// The machine that a log is from, as far as its header says; 0 = unknown.
struct Machine {
  std::int32_t nodes = 0;
  std::int32_t gpus = 0;  ///< Of all nodes.
};

/// Jobs in the order in which they joined the queue (Request::submit); ties keep the order of the
/// file.
///
/// Cost: 256 bytes a job plus its distinct strings.
struct Trace {
  std::vector<Job> jobs;
  std::vector<Attempt> attempts;  ///< Grouped by job; empty where the log has none.
  std::vector<Piece> pieces;
  Names names;  ///< Every NameId of the trace, job ids that are not numbers too.

  Machine machine;

  std::string path;                ///< Where it came from; "" = made here.
  std::string format;              ///< "helios", "philly", "sacct", ...
  bool local_times = false;        ///< Its times were written without a zone,
  std::string time_zone;           ///< and read in this one; "" = as if they were UTC.
  std::string sha256;              ///< Of the file as it lies on disk; "" = made here.
  std::int64_t rows = 0;           ///< Rows (or records) read, dropped ones included.
  std::int64_t dropped = 0;        ///< Rows left out by --lenient.
  std::int64_t unsuccessful = 0;   ///< Jobs read as FAILED of which the log says only that they did
                                   ///< not complete: some were cancelled.
  bool knows_eligible = false;     ///< The log says when jobs became eligible; where it does not,
                                   ///< waits may hold time of dependencies, begin times and holds.
  std::vector<std::string> notes;  ///< What the user should know: sorted, dropped, assumed. One
                                   ///< line each.

  /// The key of an id as its source spells it. Digits without a leading zero become a number.
  JobKey key(std::string_view id);
  /// The id as its source spelled it.
  std::string id(JobKey key) const;
};

}  // namespace almanac::trace
