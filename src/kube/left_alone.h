// SPDX-License-Identifier: Apache-2.0

/// \file
/// What to say of a StrictFIFO queue that waits for Almanac's order and does not get it, and how an
/// administrator makes it harmless. Almanac has no right to change a queue.
#pragma once

#include <string>

namespace almanac::kube {

/// Returns the command that changes the strategy of a queue. `queue` must be a name that the
/// cluster has.
std::string strategy_command(const std::string& queue, const std::string& strategy);

/// Returns two sentences, the second with the command that undoes it. `why` is a clause; "" = the
/// reader knows.
std::string left_alone(const std::string& queue, const std::string& why = "");

}  // namespace almanac::kube
