// SPDX-License-Identifier: Apache-2.0

/// \file
/// The three tiles at the top of the report of a run.
#pragma once

#include <vector>

#include "figure/document.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Returns the recommended policy, its gain over the baseline of the run, and who loses by it.
/// Returns nothing if no policy was complete or no job finished.
std::vector<figure::Tile> run_tiles(const RunInput& input,
                                    const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
