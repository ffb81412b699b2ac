// SPDX-License-Identifier: Apache-2.0

/// \file
/// The three numbers that the report of a run leads with.
#pragma once

#include <vector>

#include "figure/document.h"
#include "report/run_digest.h"

namespace almanac::report {

/// The recommended policy, its gain over the baseline of the run, and who loses by it; none
/// where no policy came to its end or no job finished.
std::vector<figure::Tile> run_tiles(const RunInput& input,
                                    const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
