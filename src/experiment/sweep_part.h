// SPDX-License-Identifier: Apache-2.0

/// \file
/// A part of a sweep as a file, so that parts can run on different machines and be joined again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/sweep.h"

namespace almanac::experiment {

/// What a part was made of: a hash over version, trace, cluster, policies, costs, loads and seeds.
/// Hexadecimal. Cost: prepares the plan's first pair, so that a mistake shows before anything is
/// simulated; fails as that does.
Result<std::string> inputs_of(const SweepPlan& plan, const std::string& trace);

/// Writes the points of a part, wholly or not at all.
Result<void> write_part(const std::string& path, const std::string& inputs,
                        const std::vector<SweepPoint>& points);

/// Fails with not_found, with corrupt, and with conflict when the part was made of other inputs.
Result<std::vector<SweepPoint>> read_part(const std::string& path, const std::string& inputs);

/// The points of parts 1, 2 ... of `pairs` (load, seed) pairs as one sweep gives them. Fails with
/// corrupt when points are missing.
Result<std::vector<SweepPoint>> join_parts(const std::vector<std::vector<SweepPoint>>& parts,
                                           std::size_t pairs);

}  // namespace almanac::experiment
