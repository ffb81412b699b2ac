// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a job log in any of the known formats.
#pragma once

#include <string>

#include "base/result.h"
#include "trace/trace.h"

namespace almanac::trace {

struct ReadOptions {
  std::string format{};      ///< One of formats(); "" to detect it from the content.
  std::string column_map{};  ///< TOML file that says which column means what; implies any CSV.
  std::string time_zone{};   ///< For times without a zone (text/time_zone.h); "" for UTC.
  bool lenient = false;      ///< Drop bad rows and say how many and why, rather than fail.
};

/// Name in messages of a log read from there.
inline constexpr const char* kStandardInput = "standard input";

/// Reads the log at `path`, or of "-" standard input; ".gz" and ".zst" are unpacked by their
/// content.
///
/// The result is sorted by submission (stable) and every job has submit, run >= 0 and gpus >= 0.
/// Fails with not_found, corrupt or invalid, naming file and line.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

}  // namespace almanac::trace
