// SPDX-License-Identifier: Apache-2.0

/// \file
/// What only an administrator changes at a site.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"

namespace almanac::manager {

/// What the settings of a site mean for those who change its jobs and nodes.
struct Facts {
  // Why nothing but the manager may do so, or why it is impossible; "" if it is possible:
  std::string order_obstacle{};    ///< Set the order of jobs.
  std::string sharing_obstacle{};  ///< Let jobs share a GPU.
  std::string power_obstacle{};    ///< Power nodes down and up.
  /// Whether the priority of a job stays as it was set. Otherwise the manager computes it, from the
  /// site factor among others.
  bool keeps_priorities = false;
  bool requeues_by_default = true;   ///< Of jobs whose users did not choose.
  bool enforces_limits = false;      ///< Whether Limits::quotas are more than numbers.
  bool loses_age_when_held = false;  ///< Whether age counts, and a job that is held loses it.
  Duration half_life{};              ///< Of Association::use; 0 if it does not decay.
  /// From a command to power a node down until it can be back, at most.
  Duration power_cycle{};
};

/// Facts that only an administrator changes.
struct Site {
  std::string manager{};  ///< "slurm".
  std::string version{};  ///< Of the controller: "22.05.8".
  std::string cluster{};
  std::string controller{};
  /// The manager's settings, spelled as it does, for its own room only. All others use `facts`.
  std::map<std::string, std::string> parameters{};
  bool federated = false;
  Duration skew = kNoDuration;  ///< By how much its clock is ahead of ours.
  std::uint32_t uid = 0;        ///< Our user id there.
  /// Whether we may change the jobs of others; nothing if unknown.
  std::optional<bool> is_operator{};
  Facts facts{};
};

}  // namespace almanac::manager
