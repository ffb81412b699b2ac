// SPDX-License-Identifier: Apache-2.0

/// \file
/// The scope of levers: the partitions of the canary if there is one, else everything.
#pragma once

#include <algorithm>

#include "manager/job.h"
#include "manager/node.h"
#include "steer/settings.h"
#include "steer/world.h"

namespace almanac::steer {

inline bool is_in_scope(const manager::Job& job, const Settings& settings) {
  const auto& canary = settings.canary.partitions;
  if (canary.empty()) return true;
  const auto names = split_names(job.partition);
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& each) { return canary.contains(each); });
}

/// Nodes of an exempt partition are out of scope, even if other partitions share them.
inline bool is_in_scope(const manager::Node& node, const Settings& settings) {
  const auto& canary = settings.canary.partitions;
  return std::all_of(node.partitions.begin(), node.partitions.end(), [&](const std::string& each) {
    return !settings.exempt.partitions.contains(each) && (canary.empty() || canary.contains(each));
  });
}

}  // namespace almanac::steer
