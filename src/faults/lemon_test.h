// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds nodes that fail far more often than the fleet, from the times of their failures alone.
///
/// The likelihood ratio of a node that fails kSuspected times as often as the fleet, against one
/// that fails as often, is a martingale for an ordinary node. So it exceeds 1 / kFalse at any time
/// with probability kFalse at most, however long the node is watched.
///
/// Source   Ville, 1939; Wald, Annals of Mathematical Statistics 1945 (sequential test).
#pragma once

#include <cmath>

#include "base/time.h"

namespace almanac::faults {

/// The largest fraction of ordinary nodes that the test ever takes for lemons.
inline constexpr double kFalse = 0.01;
/// The ratio of rates that the test looks for. It also finds nodes that are worse.
inline constexpr double kSuspected = 20;

/// Returns whether a node that failed `failures` times in `watched` is a lemon, in a fleet whose
/// nodes fail `per_day` times a day on average.
inline bool is_lemon(int failures, Duration watched, double per_day) {
  const double expected = per_day * seconds(watched) / seconds(24h);
  const double log_ratio = failures * std::log(kSuspected) - (kSuspected - 1) * expected;
  return log_ratio >= -std::log(kFalse);
}

}  // namespace almanac::faults
