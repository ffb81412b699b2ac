// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes over the state of an earlier service.
#pragma once

#include <vector>

#include "machine/forgetting.h"
#include "machine/launcher.h"
#include "machine/lifecycle.h"
#include "machine/limits.h"
#include "machine/maintenance_windows.h"
#include "machine/mover.h"
#include "machine/out_of_service.h"
#include "machine/processes.h"
#include "machine/queue.h"
#include "machine/requests.h"
#include "machine/state.h"
#include "machine/submissions.h"
#include "machine/succession.h"

namespace almanac::machine {

/// Opens the folder of a service. Fails if the store fails, or if the folder belongs to another
/// user.
Result<Opened> open_folder(Config config);

/// Returns the time up to which an earlier service has counted its jobs.
Time last_counted(const std::vector<store::Job>& unfinished);

class Recovery {
 public:
  struct Parts {
    State& state;
    Queue& queue;
    Lifecycle& lifecycle;
    Gate& gate;
    Forgetting& forgetting;
    Mover& mover;
    Processes& processes;
    Launcher& launcher;
    Requests& requests;
    Submissions& submissions;
    MaintenanceWindows& maintenance;
    OutOfService& out_of_service;
    Succession& succession;
  };
  explicit Recovery(Parts parts) : parts_(parts), state_(parts.state) {}

  /// Recovers the state, the first action of a service. Fails with `conflict` if the store does not
  /// belong to this folder, or if running jobs do not fit the cluster.
  Result<void> recover(std::vector<store::Job> unfinished);

 private:
  /// Warns if jobs were counted up to a time in the future.
  void check_clock(Time counted_to);
  Result<void> check_store_is_of_runs() const;
  Result<void> adopt_runs();
  /// Adopts the allocations of running jobs, taken from `room`.
  Result<void> adopt_running_jobs();
  /// Takes the allocation of a running job; fails with `conflict` if the cluster no longer has it.
  Result<void> take(const store::Job& job, cluster::Ledger& room);
  /// Ends a job whose allocation no longer exists, provided that none of its processes runs: the
  /// machine has come back without a GPU. Returns false if it still runs.
  bool finish_gone(Entry& entry, const Error& why);

  Parts parts_;
  State& state_;
};

}  // namespace almanac::machine
