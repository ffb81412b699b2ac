// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ends all runs of a service that has gone: what a machine does that is switched off.
#pragma once

#include <string>

namespace almanac::shepherd {

/// Asks all runs in the folders of `runs` to end, each with its grace period, and waits for them.
/// Returns the number that could not be asked.
int end_all(const std::string& runs);

}  // namespace almanac::shepherd
