// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a hold does to the age that Slurm's priorities count.
///
/// Source   Slurm 22.05.8, as seen: a job whose begin is put off has no AccrueTime any more where
///          limits are enforced, and one from then on when it may begin; elsewhere it keeps it.
#pragma once

#include <string>

#include "slurm/node.h"

namespace almanac::slurm {

/// Whether a waiting job that is held begins anew to age, and that counts.
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
