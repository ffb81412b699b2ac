// SPDX-License-Identifier: Apache-2.0

/// \file
/// Copies the output of a run from a pipe into a file with a size limit.
///
/// A problem of the file never affects the command: output that cannot be written (beyond the
/// limit, disk full) is dropped and counted, and the file says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "process/descriptor.h"

namespace almanac::shepherd {

class Log {
 public:
  /// Reads `from`, which does not block; writes `to`, which is opened to append.
  Log(process::Descriptor from, process::Descriptor to, double limit_gb);

  /// For poll(2); -1 when all writers are gone.
  int news() const { return from_.get(); }
  /// Writes the available output. Returns false once all writers have exited.
  bool pump();
  /// Writes `text` from another source.
  void add(std::string_view text) { write(text); }
  /// Writes what is left to read, and what was dropped.
  void close();
  std::int64_t dropped() const { return dropped_; }

 private:
  void write(std::string_view text);
  /// Notes in the file what was dropped, if anything and if it can.
  void tell();
  /// Gives how many bytes could not be written.
  std::size_t put(std::string_view text);

  process::Descriptor from_;
  process::Descriptor to_;
  double limit_gb_;
  std::size_t room_;  // bytes left of the limit
  bool full_ = false;
  std::int64_t dropped_ = 0;
  std::size_t untold_ = 0;  // dropped since the file last reported it
  int why_ = 0;             // errno of that
  std::string block_;
};

}  // namespace almanac::shepherd
