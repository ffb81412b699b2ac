// SPDX-License-Identifier: Apache-2.0

/// \file
/// Times in which nothing is to run: what would not have ended before does not start.
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
  /// All that are not over, in the order in which they begin.
  const std::vector<service::Window>& windows() const { return windows_; }
  /// Fails with usage where it is over, or ends before it begins; gives its number.
  Result<std::int64_t> add(service::Window window, Time now);
  /// Fails with not_found.
  Result<void> remove(std::int64_t number);
  /// Forgets those that are over; false = none is.
  bool pass(Time now);
  /// The one that keeps a job of that time limit (kNoDuration = it has none) from starting now;
  /// null = none does.
  const service::Window* bars(Duration time_limit, Time now) const;

  std::string to_json() const;
  /// Fails with corrupt.
  static Result<Maintenance> read(const std::string& json);

 private:
  std::vector<service::Window> windows_;
  std::int64_t last_ = 0;
};

}  // namespace almanac::machine
