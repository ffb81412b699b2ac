// SPDX-License-Identifier: Apache-2.0

/// \file
/// Times in which no job may run. A job that would not end before such a time does not start.
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
  /// Windows that are not over, in the order in which they begin.
  const std::vector<service::Window>& windows() const { return windows_; }
  /// Returns the number of the window. Fails with usage if it is over, or ends before it begins.
  Result<std::int64_t> add(service::Window window, Time now);
  /// Fails with not_found if there is no such window.
  Result<void> remove(std::int64_t number);
  /// Forgets windows that are over; returns whether there were any.
  bool pass(Time now);
  /// Returns the window that keeps a job of this time limit (kNoDuration = no limit) from starting
  /// now; null = there is none.
  const service::Window* bars(Duration time_limit, Time now) const;

  std::string to_json() const;
  /// Reads what to_json() wrote. Fails with corrupt.
  static Result<Maintenance> read(const std::string& json);

 private:
  std::vector<service::Window> windows_;
  std::int64_t last_ = 0;
};

}  // namespace almanac::machine
