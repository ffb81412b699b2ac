// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts the processes of jobs, once it is on the disk that they run.
#pragma once

#include <optional>

#include "gpu/nvml.h"
#include "machine/lifecycle.h"
#include "machine/limits.h"
#include "machine/processes.h"
#include "machine/start_failures.h"
#include "machine/starter.h"
#include "machine/state.h"

namespace almanac::machine {

/// Under the lock of `State`.
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

  /// Opens the driver if the service makes instances of GPUs. Fails with unavailable.
  Result<void> open_driver();
  /// Starts the jobs that were decided to start, as far as they may. Lets go of `lock` while it
  /// reads what they run.
  void start_jobs(Lock& lock);

 private:
  void start(Lock& lock, Entry& entry, const store::Job& whole);
  /// Makes the instances of GPUs that a job needs.
  Result<void> make_instances(Lock& lock, const Entry& entry);

  State& state_;
  Lifecycle& lifecycle_;
  StartFailures& failures_;
  Starter& starter_;
  Processes& processes_;
  const Gate& gate_;
  std::optional<gpu::Nvml> driver_;  // where instances are made
};

}  // namespace almanac::machine
