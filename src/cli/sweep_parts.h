// SPDX-License-Identifier: Apache-2.0

/// \file
/// A sweep in parts: each leaves a file in a folder beside --out, wherever it ran; what is there is
/// not run again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/sweep.h"

namespace almanac::cli {

struct SweepParts {
  std::string out;     ///< As --out says it.
  std::string inputs;  ///< experiment::inputs_of().
  std::size_t of = 1;

  std::string folder() const { return out + ".parts"; }
  /// "FOLDER/3-of-8.json".
  std::string file(std::size_t number) const;
  /// What a task of Slurm said: "FOLDER/3-of-8.err".
  std::string words(std::size_t number) const;
  /// Whether a part of these inputs is there.
  bool has(std::size_t number) const;
  /// Numbers of the parts that are not, rising.
  std::vector<std::size_t> missing() const;
};

/// "3/8" of --part. Fails with usage.
Result<experiment::SweepPart> parse_part(const std::string& text);

/// Runs one part of the plan on this machine and leaves its file, unless it is there. Gives the
/// exit status.
Result<int> run_part(experiment::SweepPlan plan, const SweepParts& parts,
                     experiment::SweepPart part);

/// The points of the whole sweep. Fails when a part is missing.
Result<std::vector<experiment::SweepPoint>> gather(const SweepParts& parts, std::size_t pairs);

}  // namespace almanac::cli
