// SPDX-License-Identifier: Apache-2.0

/// \file
/// Moves running jobs to other GPUs. A job that reports its GPUs (`gpus 0,2` in the file that
/// ALMANAC_PROGRESS names) learns of new GPUs from a file and SIGUSR2, and reports again when it
/// uses them. Its grace period is the time limit: it may write a checkpoint, and start new
/// processes under the same command. A job that does not report in time, or never has, is ended and
/// started again.
///
/// GPUs that a job leaves belong to no job until it has reported. If other processes still use GPUs
/// that a job gets, the job first learns of the GPUs that it keeps, so two jobs that swap GPUs do
/// not wait for each other.
#pragma once

#include <string>

#include "machine/lifecycle.h"
#include "machine/meter.h"
#include "machine/queue.h"
#include "machine/state.h"

namespace almanac::machine {

/// Requires the lock of `State`.
class Mover {
 public:
  Mover(State& state, Queue& queue, Lifecycle& lifecycle, const Meter& meter)
      : state_(state), queue_(queue), lifecycle_(lifecycle), meter_(meter) {}

  /// Takes a job's GPUs while its process continues; returns false if the process cannot be moved.
  bool vacate(Entry& entry);
  /// Gives a continuing job the GPUs that the round has assigned.
  void give_gpus(Entry& entry);
  /// Notifies a job of another batch size if its policy wants one.
  void set_batch(Entry& entry);
  /// Notifies processes of their new GPUs, as far as others have released them.
  void tell_processes();
  /// Releases the GPUs that jobs have left, once the jobs report that they use others.
  void release_left();
  /// Ends a process and starts another one on what its job holds.
  void restart(Entry& entry, const std::string& why);
  /// Compares what a process started by an earlier service uses with what its job holds, and moves
  /// it if they differ.
  void compare_with_process(Entry& entry);

 private:
  /// Measures the time from the new GPUs to the job's next step, and passes the mean on to the
  /// policy.
  void measure_move(Entry& entry);

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  const Meter& meter_;
};

}  // namespace almanac::machine
