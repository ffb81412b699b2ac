// SPDX-License-Identifier: Apache-2.0

/// \file
/// Advice as a report: waits before and after first, then who loses, the settings that matter, and
/// how well the simulation matches the cluster.
#pragma once

#include <string>
#include <vector>

#include "advice/advise.h"
#include "figure/document.h"

namespace almanac::advice {

/// Where the advice comes from.
struct Origin {
  std::string log{};
  std::string sha256{};
  std::vector<std::string> command{};  ///< The command line.
};

figure::Document document(const Advice& advice, const Origin& origin);

/// Returns the commands that run a policy next to Slurm, each with what it does, beginning with
/// those that change nothing. One that is not recommended is only to be watched.
std::vector<std::pair<std::string, std::string>> commands_for(const std::string& policy,
                                                              bool is_recommended);

}  // namespace almanac::advice
