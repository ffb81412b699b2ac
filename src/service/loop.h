// SPDX-License-Identifier: Apache-2.0

/// \file
/// The loop of the deciding thread: runs steps as long as there is something to do, sleeps
/// otherwise, and proves to the watchdog that it is alive.
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
  /// Sleeps until one of the descriptors can be read, for at most `at_most`.
  using Sleep = std::function<void(const std::vector<int>& sources, Duration at_most)>;

  /// `bell` ends a sleep. All three must outlive the loop. Tests pass a `sleep` that takes no time.
  Loop(Cluster& cluster, process::Bell& bell, Watchdog& watchdog, Sleep sleep = sleep_in_poll);

  /// Runs until `stop` is set and wake() called, then closes the cluster.
  void run(const std::atomic<bool>& stop);
  /// Runs one step. True if there is more to do at once.
  bool step();
  /// Ends a sleep. Safe in any thread and in a signal handler, as is reload().
  void wake() { bell_.ring(); }
  /// Makes the next step read the policy again.
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
