// SPDX-License-Identifier: Apache-2.0
#include "live/notify.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

namespace almanac::live {

void tell_ready(std::string_view status) {
  ::sd_notify(0, fmt::format("READY=1\nSTATUS={}", status).c_str());
}

void tell_reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t us = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  ::sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", us).c_str());
}

void tell_stopping() { ::sd_notify(0, "STOPPING=1"); }

Beginning::Beginning(Duration every) {
  constexpr std::chrono::nanoseconds kSomething = 1ms;
  const auto used = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto us = std::chrono::microseconds(std::max<Duration>(6 * every, 1min)).count();
  thread_ = std::jthread([=](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any news;
    std::unique_lock lock(mutex);
    for (auto before = used();;) {
      news.wait_for(lock, stop, every, [] { return false; });
      if (stop.stop_requested()) return;
      const auto now = used();
      if (now - before < kSomething) continue;
      ::sd_notify(0, fmt::format("EXTEND_TIMEOUT_USEC={}", us).c_str());
      before = now;
    }
  });
}

Watchdog::Watchdog() {
  std::uint64_t allowed_us = 0;
  if (::sd_watchdog_enabled(0, &allowed_us) <= 0) return;
  patience_ = std::chrono::duration_cast<Duration>(std::chrono::microseconds(allowed_us / 4));
}

void Watchdog::alive() {
  if (patience_ == kAlways || Clock::now() < due_) return;
  ::sd_notify(0, "WATCHDOG=1");
  due_ = Clock::now() + patience_;
}

}  // namespace almanac::live
