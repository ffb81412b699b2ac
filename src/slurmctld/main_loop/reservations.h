// SPDX-License-Identifier: Apache-2.0

/// \file
/// Advance reservations, and the nodes that they leave to other jobs.
#pragma once

#include <string>
#include <vector>

#include "slurmctld/jobs/job.h"

namespace almanac::slurmctld {

/// A reservation of whole nodes.
struct ReservedNodes {
  std::string name{};
  NodeBits nodes{};
  Seconds start = 0;
  Seconds end = 0;
  bool flex = false;  ///< Its jobs may use other nodes and other times.
  bool maintenance = false;
};

class Reservations {
 public:
  void add(ReservedNodes reservation) { all_.push_back(std::move(reservation)); }
  /// Removes reservations that are over.
  void expire(Seconds now) {
    std::erase_if(all_, [&](const ReservedNodes& each) { return each.end <= now; });
  }
  const ReservedNodes* find(const std::string& name) const;
  /// Whether the job may start as far as its own reservation is concerned.
  bool has_begun(const Job& job, Seconds now) const;
  /// Removes the nodes that a job must not use if it runs from `start` to `end`. Returns whether
  /// any was removed for a reservation that is not its own.
  bool apply(const Job& job, NodeBits& nodes, Seconds start, Seconds end) const;
  /// Returns when the first reservation that takes nodes of the job ends, if it runs from `start`
  /// to `end`; 0 = none does.
  Seconds next_end(const Job& job, Seconds start, Seconds end) const;
  /// Returns the next start or end after `now`; 0 = none.
  Seconds next_change(Seconds now) const;

 private:
  std::vector<ReservedNodes> all_;
};

}  // namespace almanac::slurmctld
