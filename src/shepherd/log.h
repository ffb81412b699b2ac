// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a run writes, from a pipe into a file that has a limit.
///
/// Nothing that happens to the file is the command's trouble: what cannot be written (beyond the
/// limit, a full disk) is dropped and counted, and the file says so.
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
  /// Writes what there is to read. False once all writers are gone.
  bool pump();
  /// Writes `text`, which comes another way.
  void add(std::string_view text) { write(text); }
  /// Writes what is left to read, and what was dropped.
  void close();
  std::int64_t dropped() const { return dropped_; }

 private:
  void write(std::string_view text);
  /// Tells in the file what was dropped, if anything and if it can.
  void tell();
  /// Gives how many bytes could not be written.
  std::size_t put(std::string_view text);

  process::Descriptor from_;
  process::Descriptor to_;
  double limit_gb_;
  std::size_t room_;  // bytes left of the limit
  bool full_ = false;
  std::int64_t dropped_ = 0;
  std::size_t untold_ = 0;  // dropped for an error since the file last said so
  int why_ = 0;             // errno of that
  std::string block_;
};

}  // namespace almanac::shepherd
