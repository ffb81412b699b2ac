// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parts of a sweep as files, so that parts can run on different machines, survive an interruption
/// and be joined again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/sweep.h"

namespace almanac::experiment {

/// Returns the identity of a part's inputs: a hexadecimal hash over version, trace, cluster,
/// policies, costs, loads and seeds. Cost: prepares the plan's first pair, so that a mistake shows
/// before any simulation; fails like that.
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

/// The parts of one sweep in the folder next to its file of all points.
struct SweepParts {
  std::string out;     ///< The file of all points.
  std::string inputs;  ///< inputs_of().
  std::size_t of = 1;

  std::string folder() const { return out + ".parts"; }
  /// "FOLDER/3-of-8.json".
  std::string file(std::size_t number) const;
  /// Standard error of a task of Slurm: "FOLDER/3-of-8.err".
  std::string words(std::size_t number) const;
  /// Whether a part of these inputs exists.
  bool has(std::size_t number) const;
  /// Numbers of the parts that do not exist, ascending.
  std::vector<std::size_t> missing() const;
};

/// Runs one part of the plan and writes its file. False = `plan.stop` became true, and no file is
/// written. Fails with unavailable if the folder cannot be made, before anything is simulated.
Result<bool> run_part(SweepPlan plan, const SweepParts& parts, SweepPart part);

/// The points of the whole sweep. Fails if a part is missing.
Result<std::vector<SweepPoint>> gather(const SweepParts& parts, std::size_t pairs);

}  // namespace almanac::experiment
