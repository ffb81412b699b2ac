// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes a job log: our own CSV (docs/reference/formats.md), or SWF 2.2 for the tools that read
/// that.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "table/output_file.h"
#include "trace/trace.h"

namespace almanac::trace {

/// Writes our CSV with those optional columns that have any value. Reading it back gives the same
/// jobs. `progress` is called with the fraction written; may be empty.
void write_csv(const Trace& trace, table::OutputFile& out,
               const std::function<void(double)>& progress = {});

/// Writes SWF: GPUs as processors, times in whole seconds from the first submission on, users,
/// names and VCs as numbers. Its header says so and names the queues.
void write_swf(const Trace& trace, table::OutputFile& out,
               const std::function<void(double)>& progress = {});

/// Writes the same CSV with an additional ISO 8601 column for each time, named without the unit:
/// `submit` next to `submit_s`. For a log whose times do not count from the epoch, these are days
/// of 1970.
void write_dated_csv(const Trace& trace, table::OutputFile& out,
                     const std::function<void(double)>& progress = {});

/// Saves the trace completely or not at all; "-" is standard output. `format` is "csv", "dated" or
/// "swf"; "" chooses by the name: SWF for ".swf" (".swf.gz", ".swf.zst"), otherwise CSV. `progress`
/// is called with the fraction written; may be empty.
Result<void> save_trace(const Trace& trace, const std::string& path, std::string format = {},
                        const std::function<void(double)>& progress = {});

}  // namespace almanac::trace
