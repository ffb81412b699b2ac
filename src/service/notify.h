// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a service tells the manager that started it, and its watchdog. Does nothing where there is
/// no manager that listens.
///
/// Source   sd_notify(3), sd_watchdog_enabled(3).
#pragma once

#include <string_view>
#include <thread>

#include "base/time.h"
#include "service/clock.h"

namespace almanac::service {

/// Ready for requests, also after a reload. `status` is one line for systemctl status.
void tell_ready(std::string_view status);
void tell_reloading();
void tell_stopping();

/// Has the manager wait for a start that takes longer than it allows (TimeoutStartSec), as long as
/// the process gets on with it: a store of gigabytes is read to find damage, thousands of jobs are
/// taken over. One that hangs uses no processor, and is ended in the manager's time.
class Beginning {
 public:
  /// Looks so often, from a thread of its own, until it is destroyed.
  explicit Beginning(Duration every = 10s);

 private:
  std::jthread thread_;
};

/// Proves to the manager that the thread that decides still does. Told at least twice within the
/// time that the manager allows; else it ends the service and starts it anew.
class Watchdog {
 public:
  /// `clock` must outlive it.
  explicit Watchdog(const Clock& clock = machine_clock());
  /// Called after each step of the thread that decides. Tells only when it is due.
  void alive();
  /// How long the thread may sleep at most; kAlways = there is no watchdog.
  Duration patience() const { return patience_; }
  static constexpr Duration kAlways = Duration::max();

 private:
  const Clock& clock_;
  Duration patience_ = kAlways;
  Clock::Instant due_{};
};

}  // namespace almanac::service
