// SPDX-License-Identifier: Apache-2.0

/// \file
/// How far a controller's clock is ahead of ours, from an answer with its time in whole seconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace almanac::slurm {

/// Returns the smallest skew that agrees with `told_s` (s since 1970), reported between `before`
/// and `after`: an answer that took long does not make a clock slow.
inline Duration skew_of(std::int64_t told_s, Time before, Time after) {
  const Time told{std::chrono::seconds(told_s)};
  const Duration least = told - after;
  const Duration most = told + std::chrono::seconds(1) - before;
  return std::clamp(Duration::zero(), least, std::max(least, most));
}

}  // namespace almanac::slurm
