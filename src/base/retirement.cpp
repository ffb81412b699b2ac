// SPDX-License-Identifier: Apache-2.0
#include "base/retirement.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "base/step_back.h"

namespace almanac {

void Retirement::take(std::shared_ptr<void> what) {
  std::erase_if(ends_, [](const std::future<void>& end) {
    return end.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  try {
    ends_.push_back(std::async(std::launch::async, [what = std::move(what)]() mutable {
      step_back();
      what.reset();
    }));
  } catch (const std::system_error&) {
    // It has ended with what was to be the thread's.
  }
}

}  // namespace almanac
