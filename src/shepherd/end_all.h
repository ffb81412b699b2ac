// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ends all runs on this machine of a service that has gone: what a machine does that is switched
/// off. Runs on boxes go on.
#pragma once

#include <string>
#include <vector>

namespace almanac::shepherd {

/// Asks all runs to end whose folders are in one of `all_runs`, each with its grace period, and
/// waits for them. Returns the number that could not be asked.
int end_all(const std::vector<std::string>& all_runs);

}  // namespace almanac::shepherd
