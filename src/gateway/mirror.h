// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// A copy of the controller's state, updated only in the parts that have changed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gateway/owned.h"
#include "slurm/differences.h"

namespace almanac::gateway {

/// What depends on jobs and nodes is queried only after these have changed; the rest every few
/// seconds.
///
/// Cost     without changes two queries of less than 1 ms; otherwise a query of all jobs (10,000
///          jobs: 100 to 200 ms) or of all nodes, because the controller has no query for changed
///          ones.
class Mirror {
 public:
  /// Returns the changes since the last call. Returns the whole state in the first call, after a
  /// failure, and if `whole`.
  Result<manager::News> news(bool whole);

 private:
  Result<bool> look(bool whole);
  Result<bool> look_at_jobs();
  /// Finds the jobs whose priority was set by hand.
  Result<void> look_at_priorities();
  /// Reads partitions, reservations and licenses.
  Result<bool> look_at_rest();
  /// Reads limits and switches, which the controller always sends completely.
  Result<bool> look_at_site();
  std::vector<manager::Node> told_nodes() const;

  Jobs jobs_;
  Nodes nodes_;
  Partitions partitions_;
  Reservations reservations_;
  Licences licences_;
  slurm::Picture picture_;
  slurm::Differences differences_;
  std::map<std::string, std::string> switches_;  ///< Of each node.
  Time rest_seen_ = kNoTime;                     ///< By this machine's clock.
  Time site_seen_ = kNoTime;
  std::optional<bool> works_out_priorities_;  ///< Whether the controller computes priorities.
  Duration ahead_{};                          ///< The controller's clock minus this machine's.
};

}  // namespace almanac::gateway
