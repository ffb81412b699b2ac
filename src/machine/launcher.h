// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts the processes of jobs, once their start is on disk.
#pragma once

#include <optional>

#include "gpu/driver.h"
#include "machine/lifecycle.h"
#include "machine/limits.h"
#include "machine/processes.h"
#include "machine/start_failures.h"
#include "machine/starter.h"
#include "machine/state.h"

namespace almanac::machine {

/// Requires the lock of `State`.
class Launcher {
 public:
  Launcher(State& state, Lifecycle& lifecycle, StartFailures& failures, Starter& starter,
           Processes& processes, const Gate& gate)
      : state_(state),
        lifecycle_(lifecycle),
        failures_(failures),
        starter_(starter),
        processes_(processes),
        gate_(gate) {}

  /// Opens the driver if the service creates GPU instances. Fails with `unavailable`.
  Result<void> open_driver();
  /// Starts the jobs that were decided to start, as far as allowed. Releases `lock` while it reads
  /// scripts and environments.
  void start_jobs(Lock& lock);

 private:
  void start(Lock& lock, Entry& entry, const store::Job& whole);
  /// Creates the GPU instances that a job needs.
  Result<void> make_instances(Lock& lock, const Entry& entry);

  State& state_;
  Lifecycle& lifecycle_;
  StartFailures& failures_;
  Starter& starter_;
  Processes& processes_;
  const Gate& gate_;
  std::unique_ptr<gpu::Driver> driver_;  // set if the service creates instances
};

}  // namespace almanac::machine
