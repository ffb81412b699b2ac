// SPDX-License-Identifier: Apache-2.0
#include "service/clock.h"

#include <ctime>

#include "base/wall_clock.h"

namespace almanac::service {

namespace {

class MachineClock final : public Clock {
 public:
  Time wall() const override { return wall_clock(); }
  Instant monotonic() const override { return std::chrono::steady_clock::now(); }
  Duration since_boot() const override {
    timespec read{};
    ::clock_gettime(CLOCK_BOOTTIME, &read);
    return Duration{std::int64_t{read.tv_sec} * 1000 + read.tv_nsec / 1'000'000};
  }
};

}  // namespace

const Clock& machine_clock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace almanac::service
