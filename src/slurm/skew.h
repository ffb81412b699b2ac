// SPDX-License-Identifier: Apache-2.0

/// \file
/// How far a controller's clock is ahead of ours, by an answer in which it tells whole seconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace almanac::slurm {

/// The least that agrees with what was told (s since 1970) between `before` and `after`: an answer
/// that was long on its way makes no clock slow.
inline Duration skew_of(std::int64_t told_s, Time before, Time after) {
  const Time told{std::chrono::seconds(told_s)};
  const Duration least = told - after;
  const Duration most = told + std::chrono::seconds(1) - before;
  return std::clamp(Duration::zero(), least, std::max(least, most));
}

}  // namespace almanac::slurm
