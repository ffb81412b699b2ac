// SPDX-License-Identifier: Apache-2.0

/// \file
/// The effect of a hold on a job's age in Slurm's priorities.
///
/// Source   Slurm 22.05.8, observed: where limits are enforced, a job whose begin time is postponed
///          loses its AccrueTime, and gets a new one when it becomes eligible; elsewhere it keeps
///          it.
#pragma once

#include <string>

#include "slurm/types.h"

namespace almanac::slurm {

/// Whether a pending job that is held starts to age from zero, and age counts.
inline bool loses_age_when_held(const Site& site) {
  const auto value = [&](const char* key) {
    const auto found = site.parameters.find(key);
    return found == site.parameters.end() ? std::string() : found->second;
  };
  const std::string enforced = value("AccountingStorageEnforce");
  const bool are_limits = enforced.find("limits") != std::string::npos ||
                          enforced.find("safe") != std::string::npos ||
                          enforced.find("all") != std::string::npos;
  const std::string weight = value("PriorityWeightAge");
  return are_limits && !weight.empty() && weight != "0" &&
         value("PriorityFlags").find("ACCRUE_ALWAYS") == std::string::npos;
}

}  // namespace almanac::slurm
