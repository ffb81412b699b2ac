// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ends what a killed shepherd left behind.
///
/// The command itself dies with its shepherd (PR_SET_PDEATHSIG). Its children are found in the
/// control group of the run, and by the marker ALMANAC_RUN=folder in their environment. Without a
/// control group, processes that cleared their environment are not found.
#pragma once

#include <optional>
#include <string>

namespace almanac::shepherd {

/// Kills all processes of the run except its shepherd, without waiting. Returns their number;
/// nothing if it cannot be determined now.
std::optional<int> kill_left(const std::string& folder);
/// Kills all processes of the run and its control group, without waiting. Returns how many were
/// still there; processes that survive repeated kills are stuck in the kernel, or not ours. Returns
/// nothing if it cannot be determined now for lack of descriptors or memory; some may still run.
std::optional<int> end_leftovers(const std::string& folder);

}  // namespace almanac::shepherd
