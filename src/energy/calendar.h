// SPDX-License-Identifier: Apache-2.0

/// \file
/// Distinguishes working days from weekends and holidays.
#pragma once

#include <string>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"

namespace almanac::energy {

/// Weekends, and the exceptions of a calendar file.
class Calendar {
 public:
  /// Reads a CSV file with columns `date` and `day`, which is "off" or "work". Fails with the line
  /// of a row that says something else.
  static Result<Calendar> read(const std::string& path);

  bool is_off(Time at) const;
  /// 0 is Monday.
  static int weekday(Time at);

 private:
  std::unordered_map<std::int64_t, bool> off_;  // by day since the epoch
};

}  // namespace almanac::energy
