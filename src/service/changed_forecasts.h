// SPDX-License-Identifier: Apache-2.0

/// \file
/// The forecasts that changes alter: a job cancelled, nodes added, another policy.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "forecast/changes.h"

namespace almanac::service {

/// A job whose forecast differs. Times are met with 90 % confidence; kNoTime or kNever if there is
/// none. A running job has no start, and a cancelled one no time after.
struct ChangedForecast {
  std::string id{};
  std::string name{};
  std::string user{};
  int gpus = 0;
  bool runs = false;
  bool cancelled = false;
  Time start_before = kNoTime;
  Time start_after = kNoTime;
  Time end_before = kNoTime;
  Time end_after = kNoTime;

  bool operator==(const ChangedForecast&) const = default;
};

struct ChangedForecasts {
  Time at{};        ///< When the forecasts were made.
  int waiting = 0;  ///< Waiting jobs before the changes.
  /// Jobs whose times differ, in the order of the queue, then running ones.
  std::vector<ChangedForecast> jobs{};

  bool operator==(const ChangedForecasts&) const = default;
};

/// Returns `at`, or kNever if it is more than a year after `now`: such times are sums of very many
/// guesses.
inline Time within_a_year(Time at, Time now) {
  constexpr Duration kFarthest = 24h * 365;
  return at != kNoTime && at > now + kFarthest ? kNever : at;
}

/// Returns the shifts that change a time, of jobs that `describe` names.
ChangedForecasts changed_forecasts(std::span<const forecast::Shift> shifts, Time at,
                                   const std::function<ChangedForecast(JobId)>& describe);

}  // namespace almanac::service
