// SPDX-License-Identifier: Apache-2.0

/// \file
/// The stages in which the deciding thread waits for others, each with its time limit. Deciding is
/// not a stage: it waits for no one, and the watchdog watches it.
#pragma once

#include <functional>
#include <string_view>

#include "base/time.h"
#include "service/clock.h"

namespace almanac::steer {

struct Stage {
  std::string_view doing{};  ///< "reading the state of the controller".
  Duration longest{};        ///< A stage that takes longer has gone wrong.
};

/// Slurmrestd gets two minutes for an answer.
inline constexpr Stage kAsking{"reading the state of the controller", 3min};
/// A slice ends with the call during which two seconds are over.
inline constexpr Stage kActing{"changing jobs and nodes", 2min};
inline constexpr Stage kUndoing{"undoing changes", 5min};
/// Users may request changes of any number of jobs.
inline constexpr Stage kGranting{"carrying out requests of users", 5min};
/// One week of accounting.
inline constexpr Stage kAccounting{"reading accounting", 15min};

/// Runs `act` in another thread and waits for it. Calls `meanwhile` after each `pause`, saying
/// whether the stage takes too long.
void wait_for(const Stage& stage, const service::Clock& clock, const std::function<void()>& act,
              Duration pause, const std::function<void(bool is_late)>& meanwhile);

}  // namespace almanac::steer
