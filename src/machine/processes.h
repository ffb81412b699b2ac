// SPDX-License-Identifier: Apache-2.0

/// \file
/// The processes of jobs: how they end, and how they are ended and resized.
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

/// When the process of `entry` must have ended by its time limit, since boot; nothing = it has
/// none.
std::optional<Duration> deadline_of(const Entry& entry, const State& state);

/// Under the lock of `State`.
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

  /// Gives a job the process of a run that has begun.
  void adopt(Entry& entry, shepherd::Run run);
  /// Takes note of the processes that have ended.
  void look();
  /// Lets go of a process that has ended, and says how.
  void finish(Entry& entry, const shepherd::Outcome& how);
  /// Kills processes that have not ended in time, and restarts those that have not moved in time.
  void enforce_deadlines();
  /// Has the jobs killed that hold more GPU memory than they may.
  void set_excesses(std::vector<GpuExcess> excesses) { excesses_ = std::move(excesses); }
  bool has_excesses() const { return !excesses_.empty(); }
  void take_excesses();
  /// Ends and resizes processes as was decided.
  void act();

  /// When a process must be looked at next.
  Time next_look() const;
  /// Descriptors that can be read when a process has news.
  std::vector<int> sources() const;
  /// The jobs that have a process, to be measured. Takes the lock.
  Patients patients() const;

 private:
  /// Looks again later at a process of which nothing is known now.
  void look_later(Entry& entry, const shepherd::Outcome& how) const;
  /// Tells a process to end, as its job's record says.
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
