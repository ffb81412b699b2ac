// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ends what a killed shepherd left behind.
///
/// The command itself has died with its shepherd (PR_SET_PDEATHSIG); what it had started is found
/// in the control group of the run, and by the marker ALMANAC_RUN=folder in its environment. What
/// wiped its environment where there is no control group is not found.
#pragma once

#include <optional>
#include <string>

namespace almanac::shepherd {

/// Kills all of the run but its shepherd, and waits for none; gives how many there were. Nothing
/// when that cannot be known now.
std::optional<int> kill_left(const std::string& folder);
/// Kills all of the run, its control group too, and waits for none; gives how many there still
/// were. What does not go of being told that again and again sits in the kernel, or is not ours.
/// Nothing when that cannot be known now, for want of descriptors or memory: some may live on.
std::optional<int> end_leftovers(const std::string& folder);

}  // namespace almanac::shepherd
