// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs the parts of a sweep as one job array of Slurm, a task a part, and waits for them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/sweep_parts.h"

namespace almanac::cli {

struct SweepArray {
  std::vector<std::string> command{};  ///< That of a task, to which --part K/N is added.
  std::vector<std::string> options{};  ///< More words for sbatch.
  int cores = 1;                       ///< Of a task.
};

/// Waits for the array that an earlier command has left, or submits one of the parts that are
/// missing. Gives the exit status: done, or interrupted, which leaves the array running. Fails with
/// conflict when an array of other inputs still runs, and with unavailable when parts have failed;
/// why is noted for each.
Result<int> run_array(const SweepParts& parts, const SweepArray& array);

}  // namespace almanac::cli
