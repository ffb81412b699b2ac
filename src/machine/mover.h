// SPDX-License-Identifier: Apache-2.0

/// \file
/// Moves running jobs to other GPUs. A job that reports which GPUs it uses (`gpus 0,2` in the file
/// that ALMANAC_PROGRESS names) learns of other GPUs by a file and SIGUSR2, and reports again when
/// it uses them. It has its grace for that: a checkpoint, and new processes below the same command.
/// A job that does not report in time, or never has, is ended and started again.
///
/// GPUs that a job leaves belong to no job until it has reported. If others still use GPUs that a
/// job gets, the job first learns of those that it keeps: so two jobs that change places do not
/// wait for each other.
#pragma once

#include <string>

#include "machine/lifecycle.h"
#include "machine/meter.h"
#include "machine/queue.h"
#include "machine/state.h"

namespace almanac::machine {

/// Under the lock of `State`.
class Mover {
 public:
  Mover(State& state, Queue& queue, Lifecycle& lifecycle, const Meter& meter)
      : state_(state), queue_(queue), lifecycle_(lifecycle), meter_(meter) {}

  /// Takes a job's GPUs while its process goes on; returns false if the process cannot be moved.
  bool vacate(Entry& entry);
  /// Gives a job that goes on the GPUs that the round has for it.
  void give_gpus(Entry& entry);
  /// Tells a job of another batch size if its policy wants one.
  void set_batch(Entry& entry);
  /// Tells processes of their new GPUs, as far as others have released them.
  void tell_processes();
  /// Releases the GPUs that jobs have left, once they report that they use others.
  void release_left();
  /// Ends a process and starts another on what its job holds.
  void restart(Entry& entry, const std::string& why);
  /// Compares what the process of an earlier service uses with what its job holds, and moves it if
  /// they differ.
  void compare_with_process(Entry& entry);

 private:
  /// Measures the time from the new GPUs to the job's next step, and passes its mean on to the
  /// policy.
  void measure_move(Entry& entry);

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  const Meter& meter_;
};

}  // namespace almanac::machine
