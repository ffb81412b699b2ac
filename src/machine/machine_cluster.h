// SPDX-License-Identifier: Apache-2.0

/// \file
/// One machine, as seen by the loop.
///
/// A step handles requests of users, ended processes, jobs that may join the queue, and the round;
/// writes all changes to disk; and only then acts on processes. So whatever runs was on disk before
/// it ran, and a start that is not on disk yet happens when the disk is back. A user's request is
/// on disk before any of it is done: a request that the disk refuses has not happened.
#pragma once

#include <vector>

#include "machine/admitter.h"
#include "machine/answers.h"
#include "machine/decider.h"
#include "machine/forgetting.h"
#include "machine/launcher.h"
#include "machine/line.h"
#include "machine/maintenance.h"
#include "machine/maintenance_windows.h"
#include "machine/meter.h"
#include "machine/mover.h"
#include "machine/observer.h"
#include "machine/processes.h"
#include "machine/queue.h"
#include "machine/requests.h"
#include "machine/saving.h"
#include "machine/start_failures.h"
#include "machine/starter.h"
#include "machine/state.h"
#include "machine/submissions.h"
#include "machine/succession.h"
#include "service/cluster.h"

namespace almanac::machine {

class MachineCluster final : public service::Cluster {
 public:
  /// The components of a step.
  struct Parts {
    State& state;
    Queue& queue;
    Line& line;
    const Meter& meter;
    Mover& mover;
    Decider& decider;
    Starter& starter;
    const Accounts& accounts;
    const Maintenance& windows;
    StartFailures& failures;
    Processes& processes;
    Launcher& launcher;
    Saving& saving;
    Answers& answers;
    Requests& requests;
    Submissions& submissions;
    Admitter& admitter;
    MaintenanceWindows& maintenance;
    Succession& succession;
    Forgetting& forgetting;
    Observer& observer;
  };
  explicit MachineCluster(Parts parts) : parts_(parts), state_(parts.state) {}

  /// Starts a step: takes the lock.
  void renew(bool is_asked) override;
  void take_requests() override;
  bool look() override;
  void decide() override;
  void keep() override;
  bool act() override;
  /// Ends a step: releases the lock.
  void finish() override;
  Duration rest() const override;
  std::vector<int> sources() const override;
  void close() override;

 private:
  /// Returns when the next step is due if nothing happens before.
  Time next_step() const;

  Parts parts_;
  State& state_;
  Lock lock_{state_.mutex, std::defer_lock};  // held during a step
};

}  // namespace almanac::machine
