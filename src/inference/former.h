// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the sequences that the next iteration of a replica computes: the slot `former`.
#pragma once

namespace almanac::inference {

class Replica;

class Former {
 public:
  virtual ~Former() = default;
  /// Calls `grow`, `admit` and `preempt_last` of the replica until the batch is complete. Called at
  /// the end of an iteration, or when a request arrives at an idle replica.
  virtual void form(Replica& replica) = 0;
  /// Whether form() begins with Replica::grow_steady().
  virtual bool grows_steady() const { return false; }
};

}  // namespace almanac::inference
