// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the thread that decides waits for: each stage of a look at a Slurm, with a time of its own
/// that it may take. Deciding is none of them: that waits for nobody, and is what the watchdog
/// watches.
#pragma once

#include <functional>
#include <string_view>

#include "base/time.h"
#include "service/clock.h"

namespace almanac::steer {

struct Stage {
  std::string_view doing{};  ///< "asking the controller what there is".
  Duration longest{};        ///< What takes longer has gone wrong.
};

/// Slurmrestd is given two minutes for an answer.
inline constexpr Stage kAsking{"asking the controller what there is", 3min};
/// A slice ends after two seconds, with the call that it is at.
inline constexpr Stage kActing{"changing jobs and nodes", 2min};
inline constexpr Stage kUndoing{"taking changes back", 5min};
/// Of users, any number of jobs.
inline constexpr Stage kGranting{"doing what users ask", 5min};
/// A week of it.
inline constexpr Stage kAccounting{"reading accounting", 15min};

/// Has `act` done by a thread of its own and waits for it; calls `meanwhile` each `pause`, with
/// whether the stage has taken too long by now.
void wait_for(const Stage& stage, const service::Clock& clock, const std::function<void()>& act,
              Duration pause, const std::function<void(bool is_late)>& meanwhile);

}  // namespace almanac::steer
