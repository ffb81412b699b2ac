// SPDX-License-Identifier: Apache-2.0

/// \file
/// What follows from a start that failed: for the job, for the jobs of its user, or for all.
#pragma once

#include <string>

#include "machine/lifecycle.h"
#include "machine/queue.h"
#include "machine/start_trouble.h"
#include "machine/starter.h"
#include "machine/state.h"

namespace almanac::machine {

/// Under the lock of `State`.
class StartFailures {
 public:
  StartFailures(State& state, Queue& queue, Lifecycle& lifecycle, Starter& starter,
                Accounts& accounts)
      : state_(state),
        queue_(queue),
        lifecycle_(lifecycle),
        starter_(starter),
        accounts_(accounts) {}

  /// Has all jobs wait after a start that failed for want of what all need.
  void delay_all(store::JobNumber number, const std::string& why);
  /// Takes a job's GPUs back after a start that failed for a reason of its own. It starts later, or
  /// has failed for good.
  void put_off(Entry& entry, const std::string& why);
  /// Finds out why a shepherd went before anything of its job ran. Returns what becomes of the job.
  life::NotStarted judge(Entry& entry, const shepherd::Outcome& how);
  /// A job has begun, and so starts work.
  void forget(const store::Job& job);
  /// Lets the jobs of accounts start that the system knows again, and fails those of accounts that
  /// it still does not know.
  void look_for_accounts();
  /// Whether it is time to start a job.
  bool may_start();

 private:
  /// Closes the account of a job after a start that failed because the system does not know it.
  void close_account(Entry& entry, const std::string& why);
  void end_backoff();

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  Starter& starter_;
  Accounts& accounts_;
};

}  // namespace almanac::machine
