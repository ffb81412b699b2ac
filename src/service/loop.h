// SPDX-License-Identifier: Apache-2.0

/// \file
/// The loop of the thread that decides: steps, as long as there is something to do, and sleeps
/// until there is. It proves to the watchdog that it lives.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/time.h"
#include "process/bell.h"
#include "service/cluster.h"
#include "service/notify.h"

namespace almanac::service {

class Loop {
 public:
  /// Sleeps until one of these descriptors can be read, at most so long.
  using Sleep = std::function<void(const std::vector<int>& sources, Duration at_most)>;

  /// `bell` ends a sleep. All three must outlive the loop. `sleep` is another one in tests, whose
  /// time passes at once.
  Loop(Cluster& cluster, process::Bell& bell, Watchdog& watchdog, Sleep sleep = sleep_in_poll);

  /// Runs until `stop` is set and wake() called, then closes the cluster.
  void run(const std::atomic<bool>& stop);
  /// One step; true = there is more to do at once.
  bool step();
  /// Any thread, and a signal handler; likewise reload().
  void wake() { bell_.ring(); }
  /// Has the next step renew the policy as an operator asks it.
  void reload();

 private:
  static void sleep_in_poll(const std::vector<int>& sources, Duration at_most);

  Cluster& cluster_;
  process::Bell& bell_;
  Watchdog& watchdog_;
  Sleep sleep_;
  std::atomic<bool> reload_ = false;
};

}  // namespace almanac::service
