// SPDX-License-Identifier: Apache-2.0

/// \file
/// Passes that repeat the published simulators of Helios and Synergy, with their faults. They may
/// compare names and break the rules of a policy.
#pragma once

namespace almanac::passes {

/// Adds the passes to the registry of policies. Later calls do nothing.
void install();

}  // namespace almanac::passes
