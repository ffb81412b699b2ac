// SPDX-License-Identifier: Apache-2.0

/// \file
/// Notifications to systemd, and its watchdog. Does nothing if the service manager does not listen.
///
/// Source   sd_notify(3), sd_watchdog_enabled(3).
#pragma once

#include <string_view>
#include <thread>

#include "base/time.h"
#include "service/clock.h"

namespace almanac::service {

/// Reports that the service is ready for requests, also after a reload. `status` is one line for
/// systemctl status.
void tell_ready(std::string_view status);
void tell_reloading();
void tell_stopping();

/// Extends the start timeout of systemd (TimeoutStartSec) as long as the process uses its
/// processor: checking a store of gigabytes and adopting thousands of jobs takes long. A start that
/// hangs uses no processor, so systemd ends it in time.
class Beginning {
 public:
  /// Checks at this interval, in its own thread, until it is destroyed.
  explicit Beginning(Duration every = 10s);

 private:
  std::jthread thread_;
};

/// Proves to systemd that the deciding thread is alive, at least twice within the time that systemd
/// allows. Otherwise systemd restarts the service.
class Watchdog {
 public:
  /// `clock` must outlive it.
  explicit Watchdog(const Clock& clock = machine_clock());
  /// Call after each step of the deciding thread. Notifies only when that is due.
  void alive();
  /// The longest sleep of the thread; kAlways if there is no watchdog.
  Duration patience() const { return patience_; }
  static constexpr Duration kAlways = Duration::max();

 private:
  const Clock& clock_;
  Duration patience_ = kAlways;
  Clock::Instant due_{};
};

}  // namespace almanac::service
