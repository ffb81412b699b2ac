// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes over what an earlier service left.
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

/// Opens the folder of a service. Fails as the store does, or if it is another user's.
Result<Opened> open_folder(Config config);

/// The time up to which an earlier service has counted its jobs.
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

  /// The first thing that a service does. Fails with conflict if the store is not of this folder,
  /// or what runs does not fit the cluster.
  Result<void> recover(std::vector<store::Job> unfinished);

 private:
  /// Warns if jobs were counted up to a time that is yet to come.
  void check_clock(Time counted_to);
  Result<void> check_store_is_of_runs() const;
  Result<void> adopt_runs();
  /// Adopts what a running job holds; takes it from `room`.
  Result<void> adopt_running_jobs();
  /// Takes what a running job holds; fails with conflict if the cluster does not have it any more.
  Result<void> take(const store::Job& job, cluster::Ledger& room);
  /// Finishes a job that cannot have what it held, if nothing of it runs any more: the machine has
  /// come back without a GPU. Returns false if it runs on.
  bool finish_gone(Entry& entry, const Error& why);

  Parts parts_;
  State& state_;
};

}  // namespace almanac::machine
