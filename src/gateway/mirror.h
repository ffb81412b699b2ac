// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// What there is at the controller, asked for only where it says that something is new.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gateway/owned.h"
#include "slurm/differences.h"

namespace almanac::gateway {

/// What changes with jobs and nodes, or when an administrator changes it, is asked for only after
/// those, or every few seconds.
///
/// Cost     unchanged: two questions of under 1 ms; else all jobs (10,000: 100..200 ms) or nodes
/// of which something has changed, because the controller knows no less than all.
class Mirror {
 public:
  /// What is new since the news before; all there is the first time, after a failure, and if
  /// `whole`.
  Result<slurm::News> news(bool whole);

 private:
  Result<bool> look(bool whole);
  Result<bool> look_at_jobs();
  /// Which jobs have a priority of their own.
  Result<void> look_at_priorities();
  /// Looks at partitions, reservations and licences.
  Result<bool> look_at_rest();
  /// Looks at limits and switches, which the controller tells whole each time.
  Result<bool> look_at_site();
  std::vector<slurm::Node> told_nodes() const;

  Jobs jobs_;
  Nodes nodes_;
  Partitions partitions_;
  Reservations reservations_;
  Licences licences_;
  slurm::Picture picture_;
  slurm::Differences differences_;
  std::map<std::string, std::string> switches_;  ///< Of each node.
  Time rest_seen_ = kNoTime;                     ///< By our clock.
  Time site_seen_ = kNoTime;
  std::optional<bool> works_out_priorities_;  ///< The controller does.
  Duration ahead_{};                          ///< The controller's clock.
};

}  // namespace almanac::gateway
