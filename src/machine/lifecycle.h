// SPDX-License-Identifier: Apache-2.0

/// \file
/// Applies events to jobs, with all consequences: in the record, the queue and the outbox.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "machine/life.h"
#include "machine/queue.h"
#include "machine/start_trouble.h"
#include "machine/state.h"

namespace almanac::machine {

/// The only place where events of life.h change a job. Requires the lock of `State`.
class Lifecycle {
 public:
  Lifecycle(State& state, Queue& queue, JobStarts& starts)
      : state_(state), queue_(queue), starts_(starts) {}

  /// Changes a job as life.h defines for `event`.
  void apply(Entry& entry, const life::Event& event);
  /// Replaces the state of a job.
  void become(Entry& entry, Next becomes);
  /// Sets a callback for each job that fails. It must not block.
  void on_failure(std::function<void(const store::Job&)> tell) { on_failure_ = std::move(tell); }
  /// Returns the jobs that have ended since the last call. Collected only if forecasts are made.
  std::vector<store::Job> take_ended() { return std::exchange(ended_, {}); }

 private:
  /// Removes a job that has ended.
  void finish_job(Entry& entry);
  /// Makes a job wait as if it had never run.
  void restart_job(Entry& entry);

  State& state_;
  Queue& queue_;
  JobStarts& starts_;
  std::function<void(const store::Job&)> on_failure_;
  std::vector<store::Job> ended_;
};

}  // namespace almanac::machine
