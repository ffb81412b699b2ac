// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes to disk, and then does what depends on it.
#pragma once

#include <memory>

#include "machine/hooks.h"
#include "machine/limits.h"
#include "machine/line.h"
#include "machine/state.h"

namespace almanac::machine {

/// Requires the lock of `State`, which it releases while the disk writes.
class Saving {
 public:
  Saving(State& state, Line& line, Gate& gate);

  store::Commit commit(Lock& lock, const store::Store::Batch& batch);
  /// Writes all changes; then runs the hooks, and drops ended jobs.
  void save(Lock& lock);

 private:
  /// Drops an ended job, which the store still has.
  void drop(store::JobNumber number);

  State& state_;
  Line& line_;
  Gate& gate_;
  std::unique_ptr<Hooks> hooks_;  // null if there are none
};

}  // namespace almanac::machine
