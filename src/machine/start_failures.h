// SPDX-License-Identifier: Apache-2.0

/// \file
/// Consequences of a failed start: for the job, for the jobs of its user, or for all jobs.
#pragma once

#include <string>

#include "machine/lifecycle.h"
#include "machine/queue.h"
#include "machine/start_trouble.h"
#include "machine/starter.h"
#include "machine/state.h"

namespace almanac::machine {

/// Requires the lock of `State`.
class StartFailures {
 public:
  StartFailures(State& state, Queue& queue, Lifecycle& lifecycle, Starter& starter,
                Accounts& accounts)
      : state_(state),
        queue_(queue),
        lifecycle_(lifecycle),
        starter_(starter),
        accounts_(accounts) {}

  /// Delays all jobs after a start that failed because something that every job needs is missing.
  void delay_all(store::JobNumber number, const std::string& why);
  /// Takes a job's GPUs back after a start that failed for a reason of its own. The job starts
  /// later, or fails for good.
  void put_off(Entry& entry, const std::string& why);
  /// Finds out why a shepherd exited before any command of its job ran. Returns what becomes of the
  /// job.
  life::NotStarted judge(Entry& entry, const shepherd::Outcome& how);
  /// Records that a job has started, so starts work.
  void forget(const store::Job& job);
  /// Lets jobs start whose accounts the system knows again, and fails those of accounts that it
  /// still does not know.
  void look_for_accounts();
  /// Whether a job may start now.
  bool may_start();

 private:
  /// Blocks the account of a job whose start failed because the system does not know the account.
  void close_account(Entry& entry, const std::string& why);
  void end_backoff();

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  Starter& starter_;
  Accounts& accounts_;
};

}  // namespace almanac::machine
