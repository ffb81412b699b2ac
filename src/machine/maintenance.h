// SPDX-License-Identifier: Apache-2.0

/// \file
/// Maintenance windows, in which no job may run. A job that would not end before a window does not
/// start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "service/window.h"

namespace almanac::machine {

class Maintenance {
 public:
  /// Windows that are not over, in the order in which they start.
  const std::vector<service::Window>& windows() const { return windows_; }
  /// Returns the number of the window. Fails with `usage` if the window is over, or ends before it
  /// starts.
  Result<std::int64_t> add(service::Window window, Time now);
  /// Fails with `not_found` if there is no such window.
  Result<void> remove(std::int64_t number);
  /// Removes windows that are over; returns whether there were any.
  bool pass(Time now);
  /// Returns the window that keeps a job with this time limit (kNoDuration for no limit) from
  /// starting now; null if there is none.
  const service::Window* bars(Duration time_limit, Time now) const;

  std::string to_json() const;
  /// Reads what to_json() wrote. Fails with corrupt.
  static Result<Maintenance> read(const std::string& json);

 private:
  std::vector<service::Window> windows_;
  std::int64_t last_ = 0;
};

}  // namespace almanac::machine
