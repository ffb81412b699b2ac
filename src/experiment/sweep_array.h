// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs the parts of a sweep as one job array of Slurm, a task a part, and waits for them.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/sweep_part.h"

namespace almanac::experiment {

struct SweepArray {
  std::vector<std::string> command{};  ///< Command of a task, to which --part K/N is added.
  std::vector<std::string> options{};  ///< More words for sbatch.
  int cores = 1;                       ///< Per task.
};

/// What a caller observes of the wait.
struct ArrayWatch {
  const std::atomic<bool>& stop;                     ///< Ends the wait; the array continues.
  std::function<void(const std::string& line)> say;  ///< Called with progress and failed parts.
};

/// Waits for the array that an earlier command has left, or submits one of the parts that are
/// missing. False = stopped, which leaves the array running. Fails with conflict if an array of
/// other inputs still runs, and with unavailable if parts have failed, after saying why.
Result<bool> run_array(const SweepParts& parts, const SweepArray& array, const ArrayWatch& watch);

}  // namespace almanac::experiment
