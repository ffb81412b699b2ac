// SPDX-License-Identifier: Apache-2.0
#include "steer/stage.h"

#include <future>

namespace almanac::steer {

void wait_for(const Stage& stage, const service::Clock& clock, const std::function<void()>& act,
              Duration pause, const std::function<void(bool is_late)>& meanwhile) {
  const auto until = clock.monotonic() + stage.longest;
  const auto done = std::async(std::launch::async, act);
  while (done.wait_for(pause) != std::future_status::ready) {
    meanwhile(clock.monotonic() >= until);
  }
}

}  // namespace almanac::steer
