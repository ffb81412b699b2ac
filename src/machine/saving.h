// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes to the disk, and does what follows once something is there.
#pragma once

#include <memory>

#include "machine/hooks.h"
#include "machine/limits.h"
#include "machine/line.h"
#include "machine/state.h"

namespace almanac::machine {

/// Under the lock of `State`, which it lets go of while the disk writes.
class Saving {
 public:
  Saving(State& state, Line& line, Gate& gate);

  store::Commit commit(Lock& lock, const store::Store::Batch& batch);
  /// Writes all that has changed; then runs the hooks, and drops the jobs that have ended.
  void save(Lock& lock);

 private:
  /// Leaves a job that has ended to the store.
  void drop(store::JobNumber number);

  State& state_;
  Line& line_;
  Gate& gate_;
  std::unique_ptr<Hooks> hooks_;  // null = there are none
};

}  // namespace almanac::machine
