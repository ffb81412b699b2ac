// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that name nodes or leave some out: finds nodes where the manager would start a job that the
/// policy planned elsewhere (suitable.h), over the rounds of one decision.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "cluster/ledger.h"
#include "steer/suitable.h"

namespace almanac::steer {

class PlannedRound;

/// Not thread-safe.
class Placing {
 public:
  /// A job that starts where the policy did not plan it.
  using Pinned = std::pair<manager::JobNumber, std::vector<cluster::Grant>>;

  /// Both must outlive it.
  Placing(const Mirror& mirror, const World& world) : mirror_(mirror), suitable_(mirror, world) {}

  /// Whether nodes that suit a job have room for it. A job that names its nodes is the manager's to
  /// start, so it needs room among all nodes in service only.
  bool can_be_placed(const manager::Job& job, const cluster::Ledger& ledger);
  const std::vector<Pinned>& pinned() const { return pinned_; }
  /// Finds other nodes for the jobs that the manager would not start where `round` planned them, or
  /// puts them aside. True if all must be planned again; never if `is_last`.
  bool move_misplaced(PlannedRound& round, bool is_last);

 private:
  const Mirror& mirror_;
  Suitable suitable_;
  std::vector<Pinned> pinned_;
  std::set<manager::JobNumber> elsewhere_;
};

}  // namespace almanac::steer
