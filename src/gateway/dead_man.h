// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Releases the jobs that the daemon holds when the daemon is gone.
///
/// In a thread of its own: the daemon may hang while an answer waits to be read, and a question may
/// hang while the daemon dies.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "slurm/job.h"

namespace almanac::gateway {

class DeadMan {
 public:
  DeadMan();
  DeadMan(const DeadMan&) = delete;
  DeadMan& operator=(const DeadMan&) = delete;
  ~DeadMan();

  /// These are held, and jobs that are marked, and no others, until `patience` has passed.
  void watch(std::vector<slurm::JobNumber> held, Duration patience);
  /// Releases at once what is watched; gives up after a day without a controller, after a minute
  /// where no job is named. Gives whether all are released.
  bool release_all();

 private:
  using Clock = std::chrono::steady_clock;

  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<slurm::JobNumber> held_;
  Clock::time_point due_ = Clock::time_point::max();
  bool ends_ = false;
  std::thread thread_;
};

/// Releases those that wait and are held, of `jobs` and of all that are marked. What runs or is
/// gone needs nothing. Gives whether the controller has answered to all of it.
bool release_held(const std::set<slurm::JobNumber>& jobs);

}  // namespace almanac::gateway
