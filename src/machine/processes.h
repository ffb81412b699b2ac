// SPDX-License-Identifier: Apache-2.0

/// \file
/// The processes of jobs: detects their end, ends them and resizes them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/lifecycle.h"
#include "machine/meter.h"
#include "machine/mover.h"
#include "machine/patient.h"
#include "machine/queue.h"
#include "machine/start_failures.h"
#include "machine/state.h"
#include "machine/vitals.h"

namespace almanac::machine {

/// Returns when the process of `entry` must end by its time limit, since boot; nothing without a
/// limit.
std::optional<Duration> deadline_of(const Entry& entry, const State& state);

/// Requires the lock of `State`.
class Processes {
 public:
  Processes(State& state, Queue& queue, Lifecycle& lifecycle, const Meter& meter, Mover& mover,
            StartFailures& failures)
      : state_(state),
        queue_(queue),
        lifecycle_(lifecycle),
        meter_(meter),
        mover_(mover),
        failures_(failures) {}

  /// Assigns the process of a run that has started to a job.
  void adopt(Entry& entry, shepherd::Run run);
  /// Handles processes that have exited.
  void look();
  /// Removes a process that has exited as `how` says.
  void finish(Entry& entry, const shepherd::Outcome& how);
  /// Kills processes that have not ended in time, and restarts those that have not moved in time.
  void enforce_deadlines();
  /// Marks jobs to be killed for using more GPU memory than they may.
  void set_excesses(std::vector<GpuExcess> excesses) { excesses_ = std::move(excesses); }
  void take_excesses();
  /// Ends and resizes processes as decided.
  void act();

  /// Returns when a process must be checked next.
  Time next_look() const;
  /// Returns descriptors that become readable when a process has news.
  std::vector<int> sources() const;
  /// Returns the jobs that have a process, for measurements. Takes the lock.
  Patients patients() const;

 private:
  /// Postpones the check of a process with unknown state.
  void look_later(Entry& entry, const shepherd::Outcome& how) const;
  /// Requests the end of a process, as the record of its job says.
  void end(Entry& entry) const;
  void resize(Entry& entry) const;

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  const Meter& meter_;
  Mover& mover_;
  StartFailures& failures_;
  std::vector<GpuExcess> excesses_;  // as last measured
};

}  // namespace almanac::machine
