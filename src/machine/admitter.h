// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets jobs join the queue that wait for nothing else any more.
#pragma once

#include "machine/anteroom.h"
#include "machine/lifecycle.h"
#include "machine/maintenance.h"
#include "machine/queue.h"
#include "machine/start_trouble.h"
#include "machine/state.h"

namespace almanac::machine {

/// Requires the lock of `State`.
class Admitter {
 public:
  Admitter(State& state, Queue& queue, Lifecycle& lifecycle, const Accounts& accounts,
           const Maintenance& maintenance)
      : state_(state),
        queue_(queue),
        lifecycle_(lifecycle),
        accounts_(accounts),
        maintenance_(maintenance) {}

  /// Admits the jobs that may join, some thousands at a time.
  void admit_jobs();
  /// Leaves all jobs that may join to the next policy.
  void admit_to_next_policy();
  /// Returns what keeps a pending job out of the queue; nothing if it may join.
  WaitsFor obstacle_of(const Entry& entry) const;
  /// When a job may join next.
  Time next_admission() const;

 private:
  /// Notes since when only the cluster keeps the job waiting.
  void note_eligibility(Entry& entry, WaitsFor::What obstacle) const;

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  const Accounts& accounts_;
  const Maintenance& maintenance_;
};

}  // namespace almanac::machine
